//! Serves end-to-end encrypted pages to browsers: our viewer with the ciphertext inside, decrypted with the key in the
//! fragment.
//! One response holds everything, so that it works behind gates, in a sandbox and for pages that can be viewed only
//! once.

use super::page_request::PageRequest;
use super::{cookies, headers, own_script, report, sending};
use crate::http::{OutBody, empty};
use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use dropleaf_app::ServedFile;
use dropleaf_content::{MARKDOWN_SCRIPT, MARKDOWN_STYLE};
use dropleaf_core::Error;
use dropleaf_core::site::Visibility;
use dropleaf_pages::{self as pages, Viewer, ViewerScript};
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, stream};
use http::{Method, Response, StatusCode, header};
use std::io;
use std::sync::LazyLock;

/// Memory for encoded bytes that are not sent yet, in addition to the chunks themselves.
const CODING_BYTES: u64 = 256 * 1024;

static SCRIPT: LazyLock<ViewerScript> = LazyLock::new(|| ViewerScript::new(MARKDOWN_SCRIPT));

pub(super) async fn viewer(scene: &PageRequest<'_>, file: &ServedFile) -> Result<Response<OutBody>, Error> {
    let site = &scene.page.site;
    // Without an account the policy allows no connection.
    let is_live = site.updates_live() && site.account_id.is_some() && !scene.address.is_shared();
    let live_script = is_live.then(|| own_script::LIVE.address(scene));
    let page = pages::viewer(&Viewer {
        live: live_script.as_deref().map(|address| (address, site.version)),
        report: &report::link(&scene.root()),
        anonymous: site.account_id.is_none(),
        script: &SCRIPT,
        markdown_style: MARKDOWN_STYLE,
    });
    let around = page.before.len() as u64 + page.after.len() as u64;
    let length = around + file.size_bytes.div_ceil(3) * 4;
    let mut response = empty(StatusCode::OK);
    headers::viewer(response.headers_mut(), scene.address, scene.page, &SCRIPT.source);
    response.headers_mut().insert(header::CONTENT_LENGTH, length.into());
    if scene.head.method == Method::HEAD {
        return Ok(response);
    }
    let whole = sending::stream_changed(scene, file, around + CODING_BYTES, |part| {
        stream::once(async { Ok(Bytes::from(page.before)) })
            .chain(in_base64(part.stream))
            .chain(stream::once(async { Ok(Bytes::from(page.after)) }))
    });
    let whole = whole.await?;
    // Views of burn pages are counted when they are claimed.
    if site.visibility != Visibility::Burn && !scene.visitor.prefetch && !cookies::is_owner(scene) {
        scene.dispatcher.app.count_view(site);
    }
    *response.body_mut() = OutBody::Boxed(Body::from_stream(whole));
    Ok(response)
}

/// Encodes a stream chunk by chunk; bytes that do not fill a group of three wait for the next chunk.
fn in_base64(
    bytes: BoxStream<'static, io::Result<Bytes>>,
) -> impl futures_util::Stream<Item = io::Result<Bytes>> + Send {
    stream::unfold((Some(bytes), Vec::new()), |(bytes, mut held)| async move {
        let mut bytes = bytes?;
        match bytes.next().await {
            Some(Ok(piece)) => {
                held.extend_from_slice(&piece);
                let rest = held.split_off(held.len() - held.len() % 3);
                Some((Ok(Bytes::from(STANDARD.encode(&held))), (Some(bytes), rest)))
            }
            Some(Err(error)) => Some((Err(error), (None, Vec::new()))),
            None => Some((Ok(Bytes::from(STANDARD.encode(&held))), (None, Vec::new()))),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_modules_is_left_that_an_inline_script_cannot_have() {
        for line in SCRIPT.text.lines() {
            assert!(!line.starts_with("import ") && !line.starts_with("export "), "{line}");
        }
        let small = SCRIPT.text.to_lowercase();
        for text in ["</script", "<script", "<!--"] {
            assert!(!small.contains(text), "{text}");
        }
    }

    #[tokio::test]
    async fn pieces_of_any_size_code_as_the_whole() {
        let whole: Vec<u8> = (0..=255).collect();
        for step in [1, 2, 3, 4, 7, 256] {
            let pieces: Vec<_> = whole.chunks(step).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
            let coded: Vec<_> = in_base64(stream::iter(pieces).boxed()).collect().await;
            let coded: Vec<u8> = coded.into_iter().flat_map(Result::unwrap).collect();
            assert_eq!(coded, STANDARD.encode(&whole).into_bytes(), "{step}");
        }
    }
}
