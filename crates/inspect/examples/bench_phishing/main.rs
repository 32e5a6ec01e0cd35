//! Benchmarks reading uploads for phishing, similarity and secrets: `bench_phishing [--brief] [NAME]`. Prints
//! megabytes per second over a mixed corpus, the time for large and small pages, and time against size on adversarial
//! input. Fails if the check reads less than 100 MB/s, or if twice the input takes more than 2.6 times as long. With
//! a NAME, for a profiler: runs that kind alone, or `mixed` or `small`.

mod clock;
mod inputs;

use std::process::ExitCode;

use dropleaf_inspect::phishing::{File, Rules, check, is_harmless};
use dropleaf_inspect::{secrets, similarity};

use clock::{Times, median, megabytes};
use inputs::Input;

const SIZES: [usize; 5] = [1, 2, 4, 8, 16];
const MOST_PER_DOUBLING: f64 = 2.6;
const LEAST_MB_PER_SECOND: f64 = 100.0;
const ROUNDS: usize = 5;
/// Shorter times, in seconds, are noise.
const NOISE: f64 = 0.001;

fn files(input: &Input) -> Vec<File<'_>> {
    input.files.iter().map(|(path, text)| File { path, text }).collect()
}

fn checked(input: &Input, rules: &Rules, times: usize) -> Times {
    let files = files(input);
    Times::of(times, || {
        let _ = check(&files, rules);
    })
}

fn find_secrets(files: &[File<'_>]) {
    for file in files {
        let _ = secrets::find(file.path, file.text);
    }
}

/// What a server does with an upload while nothing is blocked.
fn prove_or_check(files: &[File<'_>], rules: &Rules) {
    if !is_harmless(files, rules) {
        let _ = check(files, rules);
    }
}

/// Measures the phishing check, similarity and the search for secrets separately, over the whole corpus.
fn mixed(corpus: &[Input], rules: &Rules) -> bool {
    let size = megabytes(corpus.iter().map(Input::bytes).sum());
    let speed = |read: &dyn Fn(&[File<'_>])| {
        let best = Times::of(5, || corpus.iter().for_each(|input| read(&files(input)))).best();
        size / best
    };
    let checked = speed(&|files| {
        let _ = check(files, rules);
    });
    let published = speed(&|files| prove_or_check(files, rules));
    let both = speed(&|files| {
        let _ = similarity::check_and_fingerprint_files(files, rules);
    });
    let secrets = speed(&find_secrets);
    println!(
        "mixed corpus of {size:.1} MB: check {checked:.0} MB/s, proof or check {published:.0} MB/s, check and fingerprints {both:.0} MB/s, secrets {secrets:.0} MB/s"
    );
    checked >= LEAST_MB_PER_SECOND
}

fn small(rules: &Rules) {
    for input in inputs::small() {
        let files = files(&input);
        let many = 500;
        let micros =
            |read: &dyn Fn()| Times::of(9, || (0..many).for_each(|_| read())).best() * 1e6 / f64::from(many);
        let check = micros(&|| {
            let _ = check(&files, rules);
        });
        let published = micros(&|| prove_or_check(&files, rules));
        let both = micros(&|| {
            let _ = similarity::check_and_fingerprint_files(&files, rules);
        });
        let secrets = micros(&|| find_secrets(&files));
        let (name, bytes) = (&input.name, input.bytes());
        println!(
            "  {name:<24} {bytes:>6} bytes: check {check:>5.1} µs, proof or check {published:>5.1} µs, check and fingerprints {both:>5.1} µs, secrets {secrets:>5.1} µs"
        );
    }
}

/// Whether time grows linearly with size. The sizes are measured in turn, so that other load affects all of them.
fn growth(kind: &inputs::Kind, rules: &Rules) -> bool {
    let inputs = SIZES.map(|size| (kind.make)(size << 20));
    let rounds: Vec<Vec<f64>> =
        (0..ROUNDS).map(|_| inputs.iter().map(|input| checked(input, rules, 1).best()).collect()).collect();
    let times: Vec<f64> =
        (0..SIZES.len()).map(|size| median(rounds.iter().map(|round| round[size]).collect())).collect();
    let ratio = |round: &Vec<f64>, size: usize, to: usize| (round[to] + NOISE) / (round[size] + NOISE);
    // Input beyond a limit is cheap, which makes the next step look expensive, so two steps are also taken together.
    let step = |round: &Vec<f64>, size: usize| {
        let one = ratio(round, size, size + 1);
        size.checked_sub(1).map_or(one, |before| one.min(ratio(round, before, size + 1).sqrt()))
    };
    let steps: Vec<f64> = (0..SIZES.len() - 1)
        .map(|size| median(rounds.iter().map(|round| step(round, size)).collect()))
        .collect();
    let worst = steps.iter().copied().fold(0.0, f64::max);
    let shown = |numbers: &[f64], factor: f64, digits: usize| {
        let text = numbers.iter().map(|number| format!("{:>6.digits$}", number * factor));
        text.collect::<String>()
    };
    let mark = if worst > MOST_PER_DOUBLING { "  TOO MUCH" } else { "" };
    println!("  {:<26}{} ms, ×{}{mark}", kind.name, shown(&times, 1000.0, 0), shown(&steps, 1.0, 2));
    worst <= MOST_PER_DOUBLING
}

fn main() -> std::io::Result<ExitCode> {
    let (options, names): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let brief = options.iter().any(|option| option == "--brief");
    let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let rules = Rules::builtin();
    let mut good = !wanted("mixed") || mixed(&inputs::corpus()?, &rules);
    if wanted("small") {
        println!("small pages");
        small(&rules);
    }
    let kinds: Vec<_> = inputs::kinds().into_iter().filter(|kind| wanted(kind.name)).collect();
    println!("10 MB");
    for kind in &kinds {
        let time = checked(&(kind.make)(10_000_000), &rules, 3).best();
        // The limit is for one page; archives contain hundreds.
        let is_page = !kind.name.starts_with("pages-");
        let mark = if time > 0.25 && is_page { "  TOO LONG" } else { "" };
        println!("  {:<26}{:>5.0} ms{mark}", kind.name, time * 1000.0);
    }
    if !brief {
        println!("{SIZES:?} MiB, and how many times as long twice the size takes");
        for kind in &kinds {
            good &= growth(kind, &rules);
        }
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
