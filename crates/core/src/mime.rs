//! Media types by file name extension: a fixed table, never guessed from the bytes.

pub const HTML: &str = "text/html; charset=utf-8";
pub const MARKDOWN: &str = "text/markdown; charset=utf-8";
pub const SCRIPT: &str = "text/javascript; charset=utf-8";
pub const PDF: &str = "application/pdf";
pub const BINARY: &str = "application/octet-stream";

/// The media type without its charset parameter.
pub fn without_charset(mime: &'static str) -> &'static str {
    essence(mime)
}

pub fn is_script(mime: &str) -> bool {
    essence(mime) == "text/javascript"
}

pub fn is_stylesheet(mime: &str) -> bool {
    essence(mime) == "text/css"
}

/// Whether the type is HTML, in any charset.
pub fn is_html(mime: &str) -> bool {
    essence(mime) == "text/html"
}

/// Whether a file of this type is text.
pub fn is_text(mime: &str) -> bool {
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

/// Whether a lower-case `type` of a `<script>` is one of the media types that browsers treat as JavaScript.
pub fn is_javascript(kind: &str) -> bool {
    let Some((family, name)) = kind.split_once('/') else { return false };
    match family {
        "application" => matches!(name, "javascript" | "ecmascript" | "x-javascript" | "x-ecmascript"),
        "text" => {
            matches!(
                name,
                "javascript" | "ecmascript" | "x-javascript" | "x-ecmascript" | "jscript" | "livescript"
            ) || matches!(name.strip_prefix("javascript1."), Some("0" | "1" | "2" | "3" | "4" | "5"))
        }
        _ => false,
    }
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
