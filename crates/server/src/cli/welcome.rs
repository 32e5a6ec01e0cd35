//! What a person sees when the server is up: where it is, and at the first start the key and the next step.

use crate::serve::Running;

/// Printed to standard output, which holds nothing else.
pub fn print(running: &Running) {
    let base = running.resolved.hosts.base.url();
    println!("dropleaf {} is up.", env!("CARGO_PKG_VERSION"));
    println!("  API and docs   {base}/docs");
    println!("  Pages          {}/p/<token>/", running.resolved.hosts.site.url());
    println!("  Data           {}", running.resolved.data_dir.display());
    let Some(key) = &running.first_key else { return };
    println!();
    println!(
        "First start: the account {} was made. Its key, shown only now:",
        running.resolved.config.operator.email
    );
    println!();
    println!("  {key}");
    println!();
    println!("Publish a page:");
    println!();
    println!("  echo '<h1>Hello</h1>' > hello.html");
    println!("  curl -H 'Authorization: Bearer {key}' -F file=@hello.html {base}/sites");
    println!();
}
