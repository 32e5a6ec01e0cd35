//! The grammars of the lexer: comments, quotes and keywords of each language.

/// How a language is tokenized.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Form {
    Code,
    /// Lines of keys and values.
    Settings,
    Markup,
    Diff,
}

#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent traits of a language, set in one table")]
pub(super) struct Grammar {
    pub(super) form: Form,
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comments: &'static [(&'static str, &'static str)],
    pub(super) quotes: &'static [Quote],
    /// Separated by single spaces.
    pub(super) keywords: &'static str,
    /// Keywords ignore case.
    pub(super) any_case: bool,
    /// A word before a colon is a key, and words may have hyphens.
    pub(super) keys: bool,
    /// `#word` is a preprocessor directive.
    pub(super) directives: bool,
    /// `--word` is an option.
    pub(super) flags: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Quote {
    pub(super) mark: &'static str,
    pub(super) escapes: bool,
    pub(super) many_lines: bool,
    /// Only a single character is a literal.
    pub(super) one_letter: bool,
}

const fn quote(mark: &'static str) -> Quote {
    Quote { mark, escapes: true, many_lines: false, one_letter: false }
}

const fn block(mark: &'static str) -> Quote {
    Quote { mark, escapes: true, many_lines: true, one_letter: false }
}

const LETTER: Quote = Quote { mark: "'", escapes: true, many_lines: false, one_letter: true };
const RAW: Quote = Quote { mark: "'", escapes: false, many_lines: true, one_letter: false };
const PLAIN: &[Quote] = &[quote("\""), quote("'")];
const SLASH: &[(&str, &str)] = &[("/*", "*/")];

const CODE: Grammar = Grammar {
    form: Form::Code,
    line_comments: &["//"],
    block_comments: SLASH,
    quotes: PLAIN,
    keywords: "",
    any_case: false,
    keys: false,
    directives: false,
    flags: false,
};

static RUST: Grammar = Grammar {
    quotes: &[block("\""), LETTER],
    keywords: "as async await break const continue crate dyn else enum extern fn for if impl in let loop \
               match mod move mut pub ref return self Self static struct super trait type unsafe use where \
               while u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64 bool char str",
    ..CODE
};

static SCRIPT: Grammar = Grammar {
    quotes: &[quote("\""), quote("'"), block("`")],
    keywords: "abstract as async await break case catch class const continue debugger declare default \
               delete do else enum export extends finally for from function get if implements import in \
               instanceof interface is keyof let namespace new of private protected public readonly return \
               satisfies set static super switch this throw try type typeof var void while with yield any \
               boolean never number string unknown",
    ..CODE
};

static C: Grammar = Grammar {
    quotes: &[quote("\""), LETTER],
    keywords: "alignas auto bool break case catch char class concept const constexpr continue default \
               delete do double else enum explicit export extern float for friend goto if inline int long \
               mutable namespace new noexcept operator override private protected public register requires \
               return short signed sizeof static struct switch template this throw try typedef typename \
               union unsigned using virtual void volatile while size_t",
    directives: true,
    ..CODE
};

/// Java and its relatives: one list for all, since a wrongly matched keyword only affects the colour.
static JAVA: Grammar = Grammar {
    quotes: &[block("\"\"\""), quote("\""), LETTER],
    keywords: "abstract actor as async await base bool boolean break byte case catch char class companion \
               const continue data decimal def default defer do double else enum extension extends final \
               finally float for foreach fun func get given guard if implements implicit import in init \
               inline int interface internal is lateinit lazy let lock long match namespace native new \
               object open out override package private protected protocol public readonly record ref \
               return sealed self set short static string struct super suspend switch synchronized this \
               throw throws trait try type using val var virtual void when where while with yield",
    ..CODE
};

static GO: Grammar = Grammar {
    quotes: &[quote("\""), LETTER, Quote { mark: "`", escapes: false, many_lines: true, one_letter: false }],
    keywords: "any bool break byte case chan const continue default defer else error fallthrough float64 \
               for func go goto if import int int64 interface map package range return rune select string \
               struct switch type uint var",
    ..CODE
};

static PYTHON: Grammar = Grammar {
    line_comments: &["#"],
    block_comments: &[],
    quotes: &[block("\"\"\""), block("'''"), quote("\""), quote("'")],
    keywords: "and as assert async await break case class continue def del elif else except finally for \
               from global if import in is lambda match nonlocal not or pass raise return self try while \
               with yield int str float bool list dict tuple bytes",
    ..CODE
};

static RUBY: Grammar = Grammar {
    line_comments: &["#"],
    block_comments: &[],
    keywords: "alias and begin break case class cond def defmodule defp do else elsif end ensure fn for \
               foreach if import in local loop module my next not or our package print raise redo require \
               rescue retry return self sub super then undef unless until use when while yield function \
               library repeat",
    ..CODE
};

static PHP: Grammar = Grammar {
    line_comments: &["//", "#"],
    keywords: "abstract and array as break case catch class clone const continue declare default do echo \
               else elseif enum extends final finally fn for foreach function global if implements include \
               instanceof interface match namespace new or print private protected public readonly require \
               return static string int switch throw trait try use var void while yield",
    ..CODE
};

static SHELL: Grammar = Grammar {
    line_comments: &["#"],
    block_comments: &[],
    quotes: &[block("\""), RAW],
    keywords: "if then else elif fi for while until do done case esac in function return export local set \
               unset source alias exit cd echo sudo FROM RUN COPY ADD ENV ARG CMD ENTRYPOINT WORKDIR EXPOSE \
               USER VOLUME LABEL",
    flags: true,
    ..CODE
};

static SQL: Grammar = Grammar {
    line_comments: &["--"],
    keywords: "add all alter and as asc begin between by cascade case check column commit constraint create \
               cross default delete desc distinct drop else end exists foreign from full group having if in \
               index inner insert into is join key left like limit not offset on or order outer over \
               partition primary references returning right rollback select set table then transaction \
               union unique update using values view when where with bigint boolean bytea date integer int \
               numeric real text timestamp varchar",
    any_case: true,
    ..CODE
};

static LUA: Grammar = Grammar {
    line_comments: &["--"],
    block_comments: &[("--[[", "]]"), ("{-", "-}")],
    keywords: "and break case class data deriving do else elseif end for function if import in instance let \
               local module newtype not of or repeat return then type until where while",
    ..CODE
};

static LISP: Grammar = Grammar {
    line_comments: &[";"],
    block_comments: &[("#|", "|#")],
    quotes: &[block("\"")],
    keywords: "def defn defun define lambda fn let if cond do loop ns setq",
    ..CODE
};

static PERCENT: Grammar = Grammar {
    line_comments: &["%"],
    block_comments: &[],
    quotes: &[quote("\"")],
    keywords: "begin end function if else for while case of when receive fun",
    ..CODE
};

static CSS: Grammar = Grammar { line_comments: &[], keys: true, ..CODE };
static JSON: Grammar = Grammar { keys: true, ..CODE };
static SETTINGS: Grammar =
    Grammar { form: Form::Settings, line_comments: &["#", ";", "//"], block_comments: &[], ..CODE };
static MARKUP: Grammar = Grammar { form: Form::Markup, ..CODE };
static DIFF: Grammar = Grammar { form: Form::Diff, ..CODE };

/// One name of each grammar, for tests.
#[cfg(test)]
pub(super) const NAMES: [&str; 18] = [
    "rust", "js", "c", "java", "go", "python", "ruby", "php", "sh", "sql", "lua", "lisp", "latex", "css",
    "json", "toml", "html", "diff",
];

/// The grammar for the language name after the fence.
pub(super) fn find(name: &str) -> Option<&'static Grammar> {
    Some(match name.to_ascii_lowercase().as_str() {
        "rust" | "rs" => &RUST,
        "js" | "javascript" | "mjs" | "cjs" | "jsx" | "ts" | "typescript" | "tsx" | "node" => &SCRIPT,
        "c" | "h" | "cpp" | "c++" | "cc" | "hpp" | "objc" | "cuda" | "glsl" | "wgsl" | "zig" => &C,
        "java" | "kotlin" | "kt" | "scala" | "cs" | "csharp" | "c#" | "swift" | "dart" | "groovy" => &JAVA,
        "go" | "golang" => &GO,
        "python" | "py" | "python3" | "pycon" | "starlark" => &PYTHON,
        "ruby" | "rb" | "elixir" | "ex" | "exs" | "perl" | "pl" | "r" | "julia" | "jl" | "crystal" => &RUBY,
        "php" => &PHP,
        "sh" | "bash" | "zsh" | "fish" | "shell" | "console" | "shell-session" | "shellsession"
        | "terminal" | "dockerfile" | "docker" | "makefile" | "make" | "powershell" | "ps1" | "nix" => &SHELL,
        "sql" | "sqlite" | "postgres" | "postgresql" | "plsql" | "mysql" => &SQL,
        "lua" | "haskell" | "hs" | "elm" | "ada" => &LUA,
        "lisp" | "clojure" | "clj" | "scheme" | "elisp" | "racket" => &LISP,
        "latex" | "tex" | "matlab" | "erlang" | "erl" | "prolog" => &PERCENT,
        "css" | "scss" | "sass" | "less" => &CSS,
        "json" | "jsonc" | "json5" | "jsonl" | "geojson" => &JSON,
        "toml" | "ini" | "conf" | "cfg" | "env" | "dotenv" | "properties" | "yaml" | "yml" | "http" => {
            &SETTINGS
        }
        "html" | "htm" | "xml" | "svg" | "xhtml" | "vue" | "svelte" | "astro" | "jinja" => &MARKUP,
        "diff" | "patch" => &DIFF,
        _ => return None,
    })
}
