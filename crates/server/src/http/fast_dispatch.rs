//! The dispatch of the fast path: as `Dispatcher::dispatch`, for requests that can only be views.

use super::Dispatcher;
use super::destination::{self, Destination};
use super::view::{self, PageAddress};
use crate::connection::Connection;
use crate::fast_path::{FastRequest, FastResponse};

impl Dispatcher {
    /// The status of the response, if the request is for a view that can be answered from memory.
    pub(super) fn dispatch_fast(
        &self,
        request: &FastRequest<'_>,
        connection: &Connection,
        response: &mut FastResponse,
    ) -> Option<u16> {
        let FastRequest { host, path, .. } = *request;
        if destination::is_on_every_host(path) || crate::tls::is_other_host(connection, host) {
            return None;
        }
        let domain;
        let address = match Destination::of(&self.resolved.hosts, host, path) {
            Destination::Page(address) => address,
            Destination::OtherHost => {
                domain = self.find_domain(host)?;
                PageAddress::Domain { domain: &domain, rest: destination::below_root(path) }
            }
            _ => return None,
        };
        view::answer_fast(self, request, connection, address, response)
    }
}
