//! Media types by file name extension: a fixed table, never guessed from the bytes.

pub(crate) const HTML: &str = "text/html; charset=utf-8";
pub(crate) const MARKDOWN: &str = "text/markdown; charset=utf-8";
pub(crate) const SCRIPT: &str = "text/javascript; charset=utf-8";
pub(crate) const PDF: &str = "application/pdf";
pub(crate) const BINARY: &str = "application/octet-stream";

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
    known(charset).map_or(HTML, |known| known.html)
}

/// The media type of a script in a charset.
pub(crate) fn script_in(charset: &'static encoding_rs::Encoding) -> &'static str {
    known(charset).map_or(SCRIPT, |known| known.script)
}

fn known(charset: &'static encoding_rs::Encoding) -> Option<&'static Charset> {
    CHARSETS.iter().find(|known| known.name.eq_ignore_ascii_case(charset.name()))
}

/// The media type without its charset parameter.
pub(crate) fn without_charset(mime: &'static str) -> &'static str {
    essence(mime)
}

pub(crate) fn is_script(mime: &str) -> bool {
    essence(mime) == "text/javascript"
}

pub(crate) fn is_stylesheet(mime: &str) -> bool {
    essence(mime) == "text/css"
}

/// The charset that a media type names.
pub(crate) fn charset_in(mime: &str) -> Option<&'static encoding_rs::Encoding> {
    let (_, label) = mime.split_once("charset=")?;
    encoding_rs::Encoding::for_label(label.trim_matches('"').as_bytes())
}

/// Whether the type is HTML, in any charset.
pub(crate) fn is_html(mime: &str) -> bool {
    essence(mime) == "text/html"
}

/// Whether a file of this type is text.
pub(crate) fn is_text(mime: &str) -> bool {
    let essence = essence(mime);
    essence.starts_with("text/")
        || essence.ends_with("+xml")
        || essence.ends_with("+json")
        || matches!(
            essence,
            "application/json" | "application/xml" | "application/yaml" | "application/x-ndjson"
        )
}

/// The media type of a path by its extension, ignoring case.
pub fn mime_of(path: &str) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some((_, extension)) = name.rsplit_once('.') else { return BINARY };
    match extension.to_ascii_lowercase().as_str() {
        "html" | "htm" => HTML,
        "xhtml" | "xht" => "application/xhtml+xml; charset=utf-8",
        "svg" => "image/svg+xml; charset=utf-8",
        "xml" | "xsl" | "xslt" => "application/xml; charset=utf-8",
        "rss" => "application/rss+xml; charset=utf-8",
        "atom" => "application/atom+xml; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" | "cjs" => SCRIPT,
        "json" | "map" | "geojson" | "topojson" | "ipynb" => "application/json; charset=utf-8",
        "jsonl" | "ndjson" => "application/x-ndjson; charset=utf-8",
        "jsonld" => "application/ld+json; charset=utf-8",
        "webmanifest" => "application/manifest+json; charset=utf-8",
        "wasm" => "application/wasm",
        "txt" | "text" | "log" | "ini" | "conf" | "toml" | "glsl" | "vert" | "frag" | "wgsl" => {
            "text/plain; charset=utf-8"
        }
        "yaml" | "yml" => "application/yaml; charset=utf-8",
        "md" | "markdown" => MARKDOWN,
        "csv" => "text/csv; charset=utf-8",
        "tsv" => "text/tab-separated-values; charset=utf-8",
        "ics" => "text/calendar; charset=utf-8",
        "vcf" => "text/vcard; charset=utf-8",
        "vtt" => "text/vtt; charset=utf-8",
        "png" => "image/png",
        "apng" => "image/apng",
        "jpg" | "jpeg" | "jfif" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "heic" => "image/heic",
        "jxl" => "image/jxl",
        "bmp" => "image/bmp",
        "tif" | "tiff" => "image/tiff",
        "ico" | "cur" => "image/vnd.microsoft.icon",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "ttf" => "font/ttf",
        "otf" => "font/otf",
        "ttc" => "font/collection",
        "eot" => "application/vnd.ms-fontobject",
        "mp3" => "audio/mpeg",
        "m4a" => "audio/mp4",
        "aac" => "audio/aac",
        "flac" => "audio/flac",
        "opus" | "oga" => "audio/ogg",
        "wav" => "audio/wav",
        "weba" => "audio/webm",
        "mid" | "midi" => "audio/midi",
        "mp4" | "m4v" => "video/mp4",
        "webm" => "video/webm",
        "ogg" | "ogv" => "video/ogg",
        "mov" => "video/quicktime",
        "pdf" => PDF,
        "zip" => "application/zip",
        "gz" => "application/gzip",
        "glb" => "model/gltf-binary",
        "gltf" => "model/gltf+json; charset=utf-8",
        "stl" => "model/stl",
        "obj" => "model/obj",
        _ => BINARY,
    }
}

fn essence(mime: &str) -> &str {
    mime.split(';').next().unwrap_or(mime).trim()
}

/// Whether the type can run scripts in the page's origin. Such files are served with the headers of a page.
pub fn is_active(mime: &str) -> bool {
    let essence = essence(mime);
    matches!(essence, "text/html" | "text/xml" | "application/xml") || essence.ends_with("+xml")
}

/// Whether files of this type are worth compressing.
pub fn is_compressible(mime: &str) -> bool {
    let essence = essence(mime);
    essence.starts_with("text/")
        || essence.ends_with("+xml")
        || essence.ends_with("+json")
        || matches!(
            essence,
            "application/json"
                | "application/xml"
                | "application/yaml"
                | "application/x-ndjson"
                | "application/wasm"
                | "application/vnd.ms-fontobject"
                | "image/bmp"
                | "image/vnd.microsoft.icon"
                | "font/ttf"
                | "font/otf"
                | "font/collection"
                | "audio/wav"
                | "audio/midi"
                | "model/stl"
                | "model/obj"
                | "model/gltf-binary"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extension_decides_in_any_case() {
        assert_eq!(mime_of("a/b/INDEX.HTML"), HTML);
        assert_eq!(mime_of("app.min.js"), "text/javascript; charset=utf-8");
        assert_eq!(mime_of("fonts/x.woff2"), "font/woff2");
        assert_eq!(mime_of("nested.zip"), "application/zip");
    }

    #[test]
    fn unknown_or_missing_extension_is_octet_stream() {
        assert_eq!(mime_of("LICENSE"), BINARY);
        assert_eq!(mime_of("v1.2/LICENSE"), BINARY);
        assert_eq!(mime_of("x.exe"), BINARY);
        assert_eq!(mime_of(""), BINARY);
    }

    #[test]
    fn text_is_what_has_a_charset_and_stays_text_without_it() {
        for extension in
            "html svg xml rss css js json jsonl jsonld webmanifest txt yaml md csv ics vtt gltf png wasm \
                          woff2 pdf zip glb stl exe"
                .split_ascii_whitespace()
        {
            let mime = mime_of(&format!("a.{extension}"));
            assert_eq!(is_text(mime), mime.contains("charset="), "{extension}");
            assert_eq!(is_text(without_charset(mime)), is_text(mime), "{extension}");
            assert_eq!(is_active(without_charset(mime)), is_active(mime), "{extension}");
        }
    }

    #[test]
    fn everything_that_can_run_script_is_active() {
        for path in ["a.html", "a.htm", "a.xhtml", "a.svg", "a.xml", "a.xsl", "feed.atom", "feed.rss"] {
            assert!(is_active(mime_of(path)), "{path}");
        }
        assert!(is_active("text/html; charset=koi8-r"));
        for path in ["a.js", "a.css", "a.json", "a.png", "a.pdf", "a.txt", "a.md", "a"] {
            assert!(!is_active(mime_of(path)), "{path}");
        }
    }

    #[test]
    fn only_types_that_shrink_are_compressed() {
        for path in ["a.html", "a.svg", "a.js", "a.wasm", "a.json", "a.ttf", "a.webmanifest"] {
            assert!(is_compressible(mime_of(path)), "{path}");
        }
        for path in ["a.png", "a.woff2", "a.mp4", "a.zip", "a.pdf", "a"] {
            assert!(!is_compressible(mime_of(path)), "{path}");
        }
    }
}
