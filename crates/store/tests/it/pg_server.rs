//! A PostgreSQL server of one test, and a streaming replica of it. Both end with their value.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

#[derive(Debug)]
pub(crate) struct PgServer {
    dir: TempDir,
    port: u16,
}

impl PgServer {
    pub(crate) fn start() -> PgServer {
        let server = Self::prepare();
        let encoding = ["-E", "UTF8", "--locale=C.UTF-8", "-N"];
        let args = [&["-U", "postgres", "-A", "trust", "-D", server.data()][..], &encoding].concat();
        server.run("initdb", &args);
        server.launch();
        server
    }

    /// A replica that follows this server.
    pub(crate) fn start_replica(&self) -> PgServer {
        let replica = Self::prepare();
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
        let folder = dir.path().to_str().unwrap();
        if is_root() {
            // PostgreSQL refuses to run as root.
            execute(Command::new("chown").args(["postgres", folder]));
        }
        // Free a moment ago.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        PgServer { dir, port }
    }

    fn data(&self) -> &str {
        self.dir.path().to_str().unwrap()
    }

    fn launch(&self) {
        let options =
            format!("-c listen_addresses=127.0.0.1 -c port={} -c unix_socket_directories=", self.port);
        let log = self.dir.path().join("server.log");
        let log = log.to_str().unwrap();
        self.run("pg_ctl", &["-D", self.data(), "-l", log, "-o", &options, "-w", "start"]);
    }

    fn run(&self, program: &str, args: &[&str]) {
        let program = programs().join(program);
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        execute(command.args(args).current_dir(self.dir.path()));
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
    // No pipe: the server would keep it open.
    let done = command.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap();
    assert!(done.success(), "{command:?}: {done}");
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
