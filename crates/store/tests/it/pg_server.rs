//! A PostgreSQL server of one test, and a streaming replica of it. Both end with their value.

use std::fs::Permissions;
use std::hash::{BuildHasher, RandomState};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// How often a start is tried, with another port each time.
const ATTEMPTS: usize = 10;

#[derive(Debug)]
pub(crate) struct PgServer {
    dir: TempDir,
    port: u16,
}

impl PgServer {
    pub(crate) fn start() -> PgServer {
        let mut server = Self::prepare();
        let encoding = ["-E", "UTF8", "--locale=C.UTF-8", "-N"];
        let args = [&["-U", "postgres", "-A", "trust", "-D", server.data()][..], &encoding].concat();
        server.run("initdb", &args);
        server.launch();
        server
    }

    /// A replica that follows this server.
    pub(crate) fn start_replica(&self) -> PgServer {
        let mut replica = Self::prepare();
        let port = self.port.to_string();
        let from = ["-h", "127.0.0.1", "-p", &port, "-U", "postgres"];
        replica.run("pg_basebackup", &[&from[..], &["-R", "-c", "fast", "-D", replica.data()]].concat());
        replica.launch();
        replica
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Ends the server at once, like a power cut.
    pub(crate) fn kill(&self) {
        self.run("pg_ctl", &["-D", self.data(), "-m", "immediate", "-w", "stop"]);
    }

    fn prepare() -> PgServer {
        let dir = TempDir::new().unwrap();
        // Not all programs of PostgreSQL set the mode that its server requires.
        std::fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).unwrap();
        let folder = dir.path().to_str().unwrap();
        if is_root() {
            // PostgreSQL refuses to run as root.
            execute(Command::new("chown").args(["postgres", folder]));
        }
        PgServer { dir, port: free_port() }
    }

    fn data(&self) -> &str {
        self.dir.path().to_str().unwrap()
    }

    /// Another process may have taken the port meanwhile: then another one is tried.
    fn launch(&mut self) {
        let log = self.dir.path().join("server.log");
        let log = log.to_str().unwrap();
        for _ in 0..ATTEMPTS {
            let options =
                format!("-c listen_addresses=127.0.0.1 -c port={} -c unix_socket_directories=", self.port);
            let args = ["-D", self.data(), "-l", log, "-o", &options, "-w", "start"];
            if is_successful(&mut self.command("pg_ctl", &args)) {
                return;
            }
            self.port = free_port();
        }
        panic!("PostgreSQL does not start: {}", std::fs::read_to_string(log).unwrap_or_default());
    }

    fn run(&self, program: &str, args: &[&str]) {
        execute(&mut self.command(program, args));
    }

    fn command(&self, program: &str, args: &[&str]) -> Command {
        let program = programs().join(program);
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.args(args).current_dir(self.dir.path());
        command
    }
}

impl Drop for PgServer {
    fn drop(&mut self) {
        if self.dir.path().join("postmaster.pid").exists() {
            self.kill();
        }
    }
}

fn execute(command: &mut Command) {
    assert!(is_successful(command), "{command:?} failed");
}

fn is_successful(command: &mut Command) -> bool {
    // No pipe: the server would keep it open.
    command.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap().success()
}

/// A port that is free now. It lies below the kernel's ephemeral range, so that no outgoing connection takes it before its
/// server does.
pub(crate) fn free_port() -> u16 {
    loop {
        let random = RandomState::new().hash_one(0) % 17_000;
        let port = 15_000 + u16::try_from(random).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout == b"0\n"
}

/// The newest installed version.
fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = versions.map(|entry| entry.path()).max_by_key(|path| number(path));
    newest.map_or_else(PathBuf::new, |path| path.join("bin"))
}
