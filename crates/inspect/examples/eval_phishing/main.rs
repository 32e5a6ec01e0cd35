//! Measures the phishing check: `eval_phishing [--facts FILE] [--fixtures DIR] [--list] [--hits]`. Prints recall and
//! false positives per category, with and without the rules about destinations. For speed see `bench_phishing`.
//!
//! `eval_phishing [--blind] [--every] [--argued FILE] --check PATH…` checks the pages of files and folders instead,
//! and fails on a refusal that FILE does not justify; `--blind` leaves out the rules about destinations.

mod facts;
mod fixtures;
mod paths;
mod tally;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dropleaf_inspect::phishing::{File, Rules, Verdict, check};

use tally::Tally;

/// A labelled page.
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) category: String,
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
    fixtures: Option<PathBuf>,
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
            "--fixtures" => options.fixtures = arguments.next().map(PathBuf::from),
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
    let rules = if options.blind { Rules::builtin().without('B') } else { Rules::builtin() };
    let request = paths::Request { paths: options.check, argued: options.argued, every: options.every };
    Ok(if paths::run(&request, &rules)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
    let all = Rules::builtin();
    let blind = Rules::builtin().without('B');
    for (title, samples) in [("facts", &facts), ("fixtures", &fixtures)] {
        if samples.is_empty() {
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
        }
    }
    if options.hits {
        for sample in facts.iter().chain(&fixtures) {
            let verdict = sample.judge(&all);
            let hits: Vec<&str> = verdict.reasons.iter().map(|reason| reason.rule).collect();
            let (harvest, refused) = (u8::from(sample.harvest), u8::from(verdict.refused));
            println!("hits\t{}\t{}\t{harvest}\t{refused}\t{}", sample.name, sample.category, hits.join(" "));
        }
    }
    Ok(())
}
