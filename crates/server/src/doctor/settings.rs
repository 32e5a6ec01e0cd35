//! Which valid settings do not fit together.

use crate::config::Resolved;
use dropleaf_core::health::SettingsFacts;

/// The default of `operator.email`.
const DEFAULT_OPERATOR: &str = "operator@localhost";

pub(super) fn facts(resolved: &Resolved) -> SettingsFacts {
    let (config, hosts) = (&resolved.config, &resolved.hosts);
    let is_public = !hosts.base.is_loopback();
    let known = config.stripe_warnings().into_iter().chain(config.ap2_warning());
    let mut warnings: Vec<String> = known.map(str::to_owned).collect();
    warnings.extend(resolved.tls_warnings());
    let is_sandbox =
        resolved.settings.payments.as_ref().is_some_and(dropleaf_app::PaymentSettings::is_sandbox);
    if is_public && is_sandbox {
        warnings.push(
            "`payments.mode` is sandbox and this host is not local: anyone can publish without paying. Set `payments.mode` to live \
             or off"
                .to_owned(),
        );
    }
    SettingsFacts {
        error: None,
        warnings: warnings.iter().map(|text| text.trim_end_matches('.').to_owned()).collect(),
        is_public_http: is_public && hosts.base.scheme == "http",
        shares_host: is_public && hosts.base.host == hosts.site.host,
        has_default_operator: is_public && config.operator.email == DEFAULT_OPERATOR,
    }
}
