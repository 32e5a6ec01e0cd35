//! `dropleaf publish PATH…`: publishes files, folders and standard input. Prints one link per path, and nothing else on standard
//! output.

mod archive;
mod attempt;
mod changes;
mod content;
mod destination;
mod dry_run;
mod folder;
mod password;
mod path;
mod progress;
mod report;
mod send;
mod watch;

pub(in crate::cli) use folder::{FolderFile, FolderListing};
pub(in crate::cli) use report::is_refusal;

use super::login::open_browser;
use super::target::find_id;
use super::{ClientEnvironment, visible};
use crate::cli::exit::{NotSignedIn, WrongUse};
use crate::cli::name;
use crate::cli::output::print_json;
use anyhow::{Result, bail, ensure};
use changes::Changes;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use dropleaf_client::{Client, ClientError, PageOptions, PublishedPages};
use dropleaf_content::{Limits, find_archive_root};
use dropleaf_core::{Minter, SystemClock};
use path::{PathKind, PublishPath};
use send::{Sender, Sent};
use std::path::{Path, PathBuf};
use tokio::sync::OnceCell;
use watch::{Watch, WatchedJob};

/// The files of a folder that are published, by the paths that they have on the page, and where to read them.
pub(super) fn list_folder(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let files = folder::FolderListing::read(folder)?.files;
    let names: Vec<String> = files.iter().map(|file| file.name.clone()).collect();
    let limits = Limits { name_bytes: usize::MAX, depth: usize::MAX, ..Limits::default() };
    // Reading the listing fails if there is no root.
    let root = find_archive_root(&names, &limits).unwrap_or_default();
    let inner = |name: &str| name.strip_prefix(root.as_str()).unwrap_or(name).to_owned();
    Ok(files.into_iter().map(|file| (inner(&file.name), file.from)).collect())
}

#[derive(Debug, Args)]
pub(crate) struct Publish {
    /// Files, folders, or - for standard input; each becomes a page. A path that was published before updates its page
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The server (default: `DROPLEAF_URL`, the server you last signed in to, or <http://localhost:8080>)
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Publish a new page, even if the path was published before
    #[arg(long, conflicts_with = "update")]
    new: bool,
    /// Replace the content of this page instead: its ID, slug, token or URL; the link stays the same
    #[arg(long, value_name = "PAGE", allow_hyphen_values = true, value_parser = name::parse)]
    update: Option<String>,
    /// Publish again when a file changes, until you press Ctrl-C
    #[arg(long, conflicts_with_all = ["burn", "dry_run"])]
    watch: bool,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// List what would be sent, and send nothing
    #[arg(long)]
    dry_run: bool,
    /// The file name of standard input, which says what it is, for example notes.md
    #[arg(long = "name", value_name = "FILE", value_parser = NonEmptyStringValueParser::new())]
    file_name: Option<String>,
    /// Encrypt the page so that the server cannot read it; the link contains the key
    #[arg(long)]
    encrypt: bool,
    /// The name of a public page
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    slug: Option<String>,
    /// Make the page public, at an address with the slug
    #[arg(long, conflicts_with = "burn")]
    public: bool,
    /// Delete the page after its first view; always publishes a new page
    #[arg(long)]
    burn: bool,
    /// Protect the page with a password, from `DROPLEAF_PAGE_PASSWORD` or a prompt
    #[arg(long)]
    password: bool,
    /// Protect the page with the password in the first line of this file
    #[arg(long, value_name = "FILE", conflicts_with = "password")]
    password_file: Option<PathBuf>,
    /// Answer unknown paths of the page with its index.html, for apps that route in the browser
    #[arg(long)]
    spa: bool,
    /// Show each new version in open browsers within a second
    #[arg(long, conflicts_with = "burn")]
    live: bool,
    /// Let viewers comment on the page with the feedback toolbar
    #[arg(long, conflicts_with = "burn")]
    feedback: bool,
    /// How long the page stays online; `never` if the plan allows it
    #[arg(long, value_name = "HOURS", value_parser = NonEmptyStringValueParser::new())]
    expires_in_hours: Option<String>,
    #[arg(long)]
    title: Option<String>,
    /// What to do about secrets and personal data in the page: off, warn or block
    #[arg(long, value_name = "HOW", value_parser = ["off", "warn", "block"])]
    pii_check: Option<String>,
    /// Print the server's response as JSON
    #[arg(long)]
    json: bool,
}

impl Publish {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let targets = self.targets()?;
        if self.dry_run {
            return dry_run::run(&targets, self.file_name.as_deref(), self.json);
        }
        let client = environment.client(self.server.as_deref())?;
        if self.update.is_some() && !client.has_key() {
            let text = format!("replacing a page requires a key; run `dropleaf login {}`", client.server());
            return Err(NotSignedIn(text).into());
        }
        let update = match &self.update {
            Some(page) => Some(find_id(&client, page).await?),
            None => None,
        };
        let options = self.options(environment)?;
        let sender = self.sender(client, update, environment);
        let on_first = |sent: &Sent| {
            if self.open {
                open(sent, environment);
            }
        };
        if self.watch {
            let mut changes = Changes::watch(&targets)?;
            let jobs = targets.into_iter().map(|target| sender.job(target).map(WatchedJob::new));
            let jobs = jobs.collect::<Result<_>>()?;
            let mut watch = Watch { sender: &sender, options: &options, jobs, as_json: self.json };
            watch.start(on_first).await?;
            return tokio::select! {
                () = watch.follow(&mut changes) => Ok(()),
                _ = tokio::signal::ctrl_c() => Ok(()),
            };
        }
        self.publish_all(&sender, targets, &options, on_first).await
    }

    /// Publishes each path once, up to the first that fails.
    async fn publish_all(
        &self,
        sender: &Sender,
        targets: Vec<PublishPath>,
        options: &PageOptions,
        on_first: impl Fn(&Sent),
    ) -> Result<()> {
        let (count, mut answers, mut outcome) = (targets.len(), Vec::new(), Ok(()));
        for target in targets {
            let sent = async {
                let mut job = sender.job(target)?;
                let content = sender.read(&job.target).await?;
                report::print_skipped(&content.skipped);
                sender.send(&mut job, &content, options, false).await
            };
            match sent.await {
                Ok(sent) => {
                    on_first(&sent);
                    if self.json {
                        answers.push(serde_json::to_value(&sent.site)?);
                    } else {
                        report::print_link(&sent, sender.client.server())?;
                    }
                }
                Err(error) => {
                    answers.extend(error.downcast_ref::<ClientError>().and_then(ClientError::body).cloned());
                    outcome = Err(error);
                    break;
                }
            }
        }
        if self.json {
            match answers.as_slice() {
                [] => {}
                [one] if count == 1 => print_json(one)?,
                many => print_json(&many)?,
            }
        }
        outcome
    }

    /// The paths, after checking that the options fit them.
    fn targets(&self) -> Result<Vec<PublishPath>> {
        let wrong = |text: &str| WrongUse(text.to_owned());
        let is_one = self.paths.len() == 1;
        ensure!(
            is_one || self.update.is_none() && self.slug.is_none(),
            wrong("--update and --slug accept only one path")
        );
        let targets = self.paths.iter().map(|path| PublishPath::find(path)).collect::<Result<Vec<_>>>()?;
        let stdin = targets.iter().filter(|target| target.kind == PathKind::Stdin).count();
        ensure!(stdin <= 1, wrong("standard input can be published only once"));
        ensure!(stdin == 0 || !self.watch, wrong("--watch needs files or folders, not standard input"));
        ensure!(stdin == 1 || self.file_name.is_none(), wrong("--name is for standard input (-)"));
        if self.encrypt
            && let Some(folder) = targets.iter().find(|target| target.kind == PathKind::Folder)
        {
            let text = format!(
                "{} is a folder; an encrypted page is one file that contains everything it needs",
                folder.shown()
            );
            bail!(WrongUse(text));
        }
        Ok(targets)
    }

    fn options(&self, environment: &ClientEnvironment) -> Result<PageOptions> {
        Ok(PageOptions {
            slug: self.slug.clone(),
            password: self.page_password(environment)?,
            expires_in_hours: self.expires_in_hours.clone(),
            visibility: self.public.then(|| "public".to_owned()),
            burn: self.burn,
            title: self.title.clone(),
            pii_check: self.pii_check.clone(),
            spa: self.spa.then_some(true),
            e2e: self.encrypt,
            live: self.live,
            feedback: self.feedback,
        })
    }

    fn sender(&self, client: Client, update: Option<String>, environment: &ClientEnvironment) -> Sender {
        Sender {
            client,
            record: environment.beside_credentials("published.json").map(PublishedPages::at),
            is_new: self.new,
            update,
            is_recorded: !self.burn,
            is_encrypted: self.encrypt,
            file_name: self.file_name.clone(),
            minter: Minter::system(),
            clock: SystemClock::default(),
            limits: OnceCell::new(),
        }
    }
}

fn open(sent: &Sent, environment: &ClientEnvironment) {
    if environment.has_desktop {
        open_browser(&sent.link);
    } else {
        eprintln!("note: there is no desktop here; open the link yourself");
    }
}
