//! The load generator of `bench/tls.mjs`. Prints its result as JSON.
//!
//! `fill DATA_DIR BASE_URL COUNT`: adds verified custom domains, each with a certificate, to a store that has a page.
//! `handshakes ADDRESS NAMES COUNT CONCURRENT`: full handshakes, with the names of a file in turn.
//! `flood ADDRESS RATE SECONDS`: hellos for names that no server has, and how they are answered.

mod fill;
mod flood;
mod handshakes;

use anyhow::{Context, Result, bail};

fn main() -> Result<()> {
    dropleaf::tls::install_provider();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<usize>().with_context(|| format!("`{text}` is not a number"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = match args[..] {
        ["fill", data_dir, base_url, count] => {
            runtime.block_on(fill::run(data_dir, base_url, number(count)?))?
        }
        ["handshakes", address, names, count, concurrent] => {
            let names = std::fs::read_to_string(names)?;
            runtime.block_on(handshakes::run(
                address.parse()?,
                &names,
                number(count)?,
                number(concurrent)?,
            ))?
        }
        ["flood", address, rate, seconds] => {
            runtime.block_on(flood::run(address.parse()?, number(rate)?, number(seconds)?))?
        }
        _ => bail!("see the head of this file"),
    };
    println!("{result}");
    Ok(())
}
