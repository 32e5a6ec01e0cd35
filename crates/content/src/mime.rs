//! Media types with a charset other than UTF-8, beside the types by file name extension of [`dropleaf_core::mime`].

pub(crate) use dropleaf_core::mime::{
    BINARY, HTML, MARKDOWN, PDF, SCRIPT, is_html, is_script, is_stylesheet, is_text, without_charset,
};
pub use dropleaf_core::mime::{is_active, is_compressible, mime_of};

/// A charset that is not UTF-8, and the media types of pages and scripts in it.
pub(crate) struct Charset {
    pub(crate) name: &'static str,
    html: &'static str,
    script: &'static str,
}

macro_rules! charsets {
    ($($name:literal)+) => {
        &[$(Charset {
            name: $name,
            html: concat!("text/html; charset=", $name),
            script: concat!("text/javascript; charset=", $name),
        }),+]
    };
}

pub(crate) const CHARSETS: &[Charset] = charsets! {
    "utf-16le" "utf-16be" "ibm866" "iso-8859-2" "iso-8859-3" "iso-8859-4" "iso-8859-5" "iso-8859-6"
    "iso-8859-7" "iso-8859-8" "iso-8859-8-i" "iso-8859-10" "iso-8859-13" "iso-8859-14" "iso-8859-15" "iso-8859-16"
    "koi8-r" "koi8-u" "macintosh" "windows-874" "windows-1250" "windows-1251" "windows-1252" "windows-1253"
    "windows-1254" "windows-1255" "windows-1256" "windows-1257" "windows-1258" "x-mac-cyrillic" "gbk" "gb18030"
    "big5" "euc-jp" "iso-2022-jp" "shift_jis" "euc-kr"
};

/// The media type of a page in a charset.
pub(crate) fn html_in(charset: &'static encoding_rs::Encoding) -> &'static str {
    find_charset(charset).map_or(HTML, |known| known.html)
}

/// The media type of a script in a charset.
pub(crate) fn script_in(charset: &'static encoding_rs::Encoding) -> &'static str {
    find_charset(charset).map_or(SCRIPT, |known| known.script)
}

fn find_charset(charset: &'static encoding_rs::Encoding) -> Option<&'static Charset> {
    CHARSETS.iter().find(|known| known.name.eq_ignore_ascii_case(charset.name()))
}

/// The charset that a media type names.
pub(crate) fn charset_in(mime: &str) -> Option<&'static encoding_rs::Encoding> {
    let (_, label) = mime.split_once("charset=")?;
    encoding_rs::Encoding::for_label(label.trim_matches('"').as_bytes())
}
