//! Measures the phishing check: `eval_phishing [--facts FILE] [--corpus DIR] [--fixtures DIR] [--lists DIR] [--list] [--hits]`.
//! Prints recall and false positives per kind and language, with and without the rules about destinations, and what changes
//! get refused pages accepted; `--log FILE --commit NAME` adds the figures to a file. For speed see `bench_phishing`.
//!
//! `eval_phishing [--blind] [--every] [--argued FILE] --check PATH…` checks the pages of files and folders instead,
//! and fails on a refusal that FILE does not justify; `--blind` leaves out the rules about destinations.

mod corpus;
mod evasions;
mod facts;
mod fixtures;
mod interval;
mod paths;
mod sources;
mod tally;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dropleaf_inspect::phishing::{File, OwnLists, Rules, Verdict, check};

use tally::Tally;

/// A labelled page.
#[derive(Clone)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) category: String,
    /// Pages of one source were made by the same people.
    pub(crate) source: String,
    /// Two letters, if the page states its language.
    pub(crate) language: String,
    pub(crate) harvest: bool,
    pub(crate) files: Vec<(String, String)>,
}

impl Sample {
    pub(crate) fn judge(&self, rules: &Rules) -> Verdict {
        let files: Vec<File<'_>> = self.files.iter().map(|(path, text)| File { path, text }).collect();
        check(&files, rules)
    }
}

#[derive(Default)]
struct Options {
    facts: Option<PathBuf>,
    corpus: Option<PathBuf>,
    fixtures: Option<PathBuf>,
    /// A folder of lists to use instead of the built-in ones.
    lists: Option<PathBuf>,
    /// A file to which a line with the figures is added, and the commit that they are of.
    log: Option<PathBuf>,
    commit: String,
    list: bool,
    hits: bool,
    blind: bool,
    every: bool,
    argued: Option<PathBuf>,
    check: Vec<PathBuf>,
}

fn options() -> Options {
    let mut options = Options::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--facts" => options.facts = arguments.next().filter(|path| !path.is_empty()).map(PathBuf::from),
            "--corpus" => {
                options.corpus = arguments.next().filter(|path| !path.is_empty()).map(PathBuf::from);
            }
            "--fixtures" => options.fixtures = arguments.next().map(PathBuf::from),
            "--log" => options.log = arguments.next().filter(|path| !path.is_empty()).map(PathBuf::from),
            "--commit" => options.commit = arguments.next().unwrap_or_default(),
            "--lists" => options.lists = arguments.next().map(PathBuf::from),
            "--list" => options.list = true,
            "--hits" => options.hits = true,
            "--blind" => options.blind = true,
            "--every" => options.every = true,
            "--argued" => options.argued = arguments.next().map(PathBuf::from),
            "--check" => options.check = arguments.by_ref().map(PathBuf::from).collect(),
            other => eprintln!("unknown argument {other}"),
        }
    }
    options
}

fn main() -> std::io::Result<ExitCode> {
    let options = options();
    if options.check.is_empty() {
        measure(&options)?;
        return Ok(ExitCode::SUCCESS);
    }
    let rules = rules(&options)?;
    let rules = if options.blind { rules.without('B') } else { rules };
    let request = paths::Request { paths: options.check, argued: options.argued, every: options.every };
    Ok(if paths::run(&request, &rules)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn rules(options: &Options) -> std::io::Result<Rules> {
    let Some(folder) = &options.lists else { return Ok(Rules::builtin()) };
    let mut lists = OwnLists::new(true);
    for file in OwnLists::FILES {
        let path = folder.join(file);
        if path.is_file() {
            lists.add(file, std::fs::read_to_string(path)?).map_err(std::io::Error::other)?;
        }
    }
    Ok(lists.rules())
}

fn measure(options: &Options) -> std::io::Result<()> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("phishing/fixtures");
    let fixtures = fixtures::read(options.fixtures.as_deref().unwrap_or(&default))?;
    let facts = if let Some(path) = &options.facts {
        facts::read(path)?
    } else {
        println!("No labelled facts: pass --facts FILE, or PHISHING_FACTS=FILE make eval-phishing.");
        Vec::new()
    };
    let corpus = options.corpus.as_deref().map(corpus::read).transpose()?.unwrap_or_default();
    let all = rules(options)?;
    let blind = rules(options)?.without('B');
    let folders = corpus::folders(&corpus);
    let mut log = String::new();
    let sets = [
        ("facts", &facts),
        ("corpus", &corpus),
        ("folders of the corpus", &folders),
        ("fixtures", &fixtures),
    ];
    for (title, samples) in sets {
        if samples.is_empty() || options.hits {
            continue;
        }
        for (how, rules) in [("all rules", &all), ("destination rules off", &blind)] {
            println!("\n{title}, {how}");
            let mut tally = Tally::default();
            for sample in samples {
                let verdict = sample.judge(rules);
                if options.list && verdict.refused != sample.harvest {
                    let hits: Vec<&str> = verdict.reasons.iter().map(|reason| reason.rule).collect();
                    println!(
                        "  {:<24} {:<18} {:.2} {}",
                        sample.name,
                        sample.category,
                        verdict.score,
                        hits.join(" ")
                    );
                }
                tally.add(sample, verdict.refused);
            }
            tally.print();
            let _ = writeln!(log, "{}\t{title}, {how}\t{}", options.commit, tally.summary());
        }
        if title.starts_with("folders") {
            continue;
        }
        println!("\n{title}, evasions");
        let (accepted, tried) = evasions::print(samples, &all);
        let _ = writeln!(log, "{}\t{title}, evasions accepted\t{accepted}/{tried}\t", options.commit);
    }
    if let Some(path) = &options.log {
        std::fs::OpenOptions::new().create(true).append(true).open(path)?.write_all(log.as_bytes())?;
    }
    if options.hits {
        for sample in facts.iter().chain(&corpus).chain(&fixtures) {
            let verdict = sample.judge(&all);
            let hits: Vec<&str> = verdict.reasons.iter().map(|reason| reason.rule).collect();
            let (harvest, refused) = (u8::from(sample.harvest), u8::from(verdict.refused));
            let Sample { name, category, source, .. } = sample;
            println!("hits\t{name}\t{category}\t{source}\t{harvest}\t{refused}\t{}", hits.join(" "));
        }
    }
    Ok(())
}
