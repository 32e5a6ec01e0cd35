//! Runs the operator's command that sets and removes the TXT records of DNS-01 challenges. The arguments are those of lego's
//! `exec` provider: `present NAME. VALUE` and `cleanup NAME. VALUE`.

use anyhow::{Context, Result, bail};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// How long the command may take.
const TIMEOUT: Duration = Duration::from_mins(2);
/// How often it is checked whether the command has ended.
const POLL: Duration = Duration::from_millis(50);
/// How long to wait for output after the command ended: a process that it left behind may hold the pipe open.
const OUTPUT_PATIENCE: Duration = Duration::from_secs(1);
/// How much of the output is kept for the log and the error.
const OUTPUT_BYTES: usize = 2048;
/// The command gets no variable of this process, which may contain secrets.
const SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookAction {
    Present,
    Cleanup,
}

impl HookAction {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Cleanup => "cleanup",
        }
    }
}

/// Runs the command on a thread of its own and waits for it. One runs at a time: if nobody waits for `present` any more,
/// `cleanup` still starts only after it has ended.
pub(super) async fn run(
    lock: Arc<Mutex<()>>,
    command: &Path,
    action: HookAction,
    name: &str,
    value: &str,
) -> Result<()> {
    let (command, name, value) = (PathBuf::from(command), format!("{name}."), value.to_owned());
    let guard = lock.lock_owned().await;
    let work = move || {
        let _guard = guard;
        run_blocking(&command, action, &name, &value, TIMEOUT)
    };
    tokio::task::spawn_blocking(work).await?
}

fn run_blocking(command: &Path, action: HookAction, name: &str, value: &str, limit: Duration) -> Result<()> {
    let mut child = Command::new(command)
        .args([action.as_str(), name, value])
        .env_clear()
        .env("PATH", SEARCH_PATH)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // With what it starts, so that all of it can be killed.
        .process_group(0)
        .spawn()
        .with_context(|| format!("`tls.acme.dns_hook`: cannot run {}", command.display()))?;
    let outputs = [
        child.stdout.take().map(|pipe| first_bytes(Box::new(pipe))),
        child.stderr.take().map(|pipe| first_bytes(Box::new(pipe))),
    ];
    let status = wait(&mut child, limit)?;
    let outputs = outputs.into_iter().flatten().filter_map(|it| it.recv_timeout(OUTPUT_PATIENCE).ok());
    let output =
        outputs.map(|it| String::from_utf8_lossy(&it).trim().to_owned()).collect::<Vec<_>>().join(" ");
    let (action, output) = (action.as_str(), output.trim());
    match status {
        Some(status) if status.success() => {
            tracing::info!(action, name, output, "DNS hook finished");
            Ok(())
        }
        Some(status) => bail!("`tls.acme.dns_hook {action}` failed ({status}): {output}"),
        None => bail!("`tls.acme.dns_hook {action}` took longer than {} seconds: {output}", limit.as_secs()),
    }
}

/// The exit status, or `None` for a command that had to be killed.
fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(POLL);
    }
    kill_group(child.id());
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// Kills what the command has started, too. There is no safe function for this in the standard library.
fn kill_group(leader: u32) {
    let killed = Command::new("/bin/sh")
        .args(["-c", &format!("kill -KILL -{leader}")])
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !killed.is_ok_and(|status| status.success()) {
        tracing::warn!("processes that the DNS hook started were not killed");
    }
}

/// Reads a pipe to its end, so that the command never waits for it, and keeps the beginning.
fn first_bytes(mut pipe: Box<dyn Read + Send>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let (mut kept, mut buffer) = (Vec::new(), [0; 4096]);
        while let Ok(count @ 1..) = pipe.read(&mut buffer) {
            let room = OUTPUT_BYTES.saturating_sub(kept.len());
            kept.extend_from_slice(&buffer[..count.min(room)]);
        }
        // Nobody waits any more if the command took too long.
        let _ = sender.send(kept);
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use tempfile::TempDir;

    /// A command that runs this script with `$dir` set to its folder.
    fn hook(script: &str) -> (TempDir, PathBuf) {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("hook");
        std::fs::write(&path, format!("#!/bin/sh\ndir={}\n{script}\n", dir.path().display())).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        (dir, path)
    }

    fn run_hook(path: &Path, limit: Duration) -> Result<()> {
        run_blocking(path, HookAction::Present, "_acme-challenge.pages.example.", "value", limit)
    }

    #[test]
    fn the_command_gets_action_name_and_value_and_no_other_environment() {
        let (dir, path) = hook("echo \"$@\" >$dir/args; env >$dir/env");
        run_hook(&path, TIMEOUT).unwrap();
        let read = |name| std::fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!(read("args"), "present _acme-challenge.pages.example. value\n");
        let env = read("env");
        assert!(env.contains("PATH=/usr/local") && !env.contains("HOME=") && !env.contains("CARGO"), "{env}");
    }

    #[test]
    fn a_failure_is_reported_with_the_beginning_of_the_output() {
        let (_dir, path) = hook("echo no such zone >&2; exit 3");
        let error = run_hook(&path, TIMEOUT).unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && error.contains("no such zone"), "{error}");
        let (_dir, path) = hook("i=0; while [ $i -lt 3000 ]; do echo 0123456789; i=$((i+1)); done; exit 1");
        assert!(run_hook(&path, TIMEOUT).unwrap_err().to_string().len() < OUTPUT_BYTES + 200);
        let error = run_hook(Path::new("/nowhere/hook"), TIMEOUT).unwrap_err().to_string();
        assert!(error.contains("cannot run"), "{error}");
    }

    #[test]
    fn a_command_that_hangs_is_killed_with_what_it_started() {
        // The output ends when the last process that holds the pipe has ended.
        let (_dir, path) = hook("sleep 600 & echo started; wait");
        let error = run_hook(&path, Duration::from_secs(1)).unwrap_err().to_string();
        assert!(error.contains("took longer") && error.contains("started"), "{error}");
        let (_dir, path) = hook("exec sleep 600");
        let error = run_hook(&path, Duration::ZERO).unwrap_err().to_string();
        assert!(error.contains("took longer"), "{error}");
    }
}
