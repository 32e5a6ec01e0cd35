//! Judges the servers beside the one in `database_url`: replicas that are read from, and the one that sends notifications.

use super::{Check, Finding};
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherServer {
    /// Its number in `database.read_urls`, from 1; `None` for `database.listen_url`. A URL holds a password.
    pub replica: Option<usize>,
    pub state: ServerState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerState {
    /// Why it cannot be used, without secrets.
    Failed(String),
    /// It holds another database than the one in `database_url`.
    Foreign,
    /// The primary of this database.
    Primary,
    /// How long it took until it held what the primary held; `None` if it did not within the time limit.
    Replica(Option<Duration>),
}

pub fn database_servers(servers: &[OtherServer], max_lag: Duration) -> Finding {
    const CHECK: Check = Check::DatabaseServers;
    if servers.is_empty() {
        return Finding::ok(CHECK, "Only the server in `database_url` is configured.");
    }
    let parts = servers.iter().filter_map(|server| judge(server, max_lag)).collect();
    Finding::join(CHECK, parts)
        .unwrap_or_else(|| Finding::ok(CHECK, "All of them hold this database, and replicas are current."))
}

fn judge(server: &OtherServer, max_lag: Duration) -> Option<Finding> {
    const CHECK: Check = Check::DatabaseServers;
    const REPLICATION: &str = "Look at `pg_stat_replication` on the primary, and at the load of the replica; or raise `database.max_lag_ms`.";
    let (name, setting) = match server.replica {
        Some(number) => (format!("Replica {number}"), "database.read_urls"),
        None => ("The server for notifications".to_owned(), "database.listen_url"),
    };
    let is_for_reads = server.replica.is_some();
    Some(match &server.state {
        ServerState::Failed(why) if is_for_reads => Finding::warning(
            CHECK,
            format!("{name} cannot be used, so the primary serves its reads: {why}."),
            format!("Check that it runs, and its address in `{setting}`."),
        ),
        ServerState::Failed(why) => Finding::problem(
            CHECK,
            format!("{name} cannot be used, so changes made on other nodes arrive late: {why}."),
            format!("Check that it runs, and its address in `{setting}`."),
        ),
        ServerState::Foreign => Finding::problem(
            CHECK,
            format!("{name} holds another database than the server in `database_url`."),
            format!("Correct its address in `{setting}`."),
        ),
        ServerState::Primary if is_for_reads => Finding::warning(
            CHECK,
            format!("{name} is the primary itself, so it relieves nothing."),
            format!("Set the address of a replica in `{setting}`, or remove it."),
        ),
        ServerState::Replica(_) if !is_for_reads => Finding::problem(
            CHECK,
            format!("{name} is a replica, where PostgreSQL does not allow LISTEN."),
            format!("Set `{setting}` to the address of the primary."),
        ),
        ServerState::Replica(None) => {
            Finding::warning(CHECK, format!("{name} is seconds behind and is not used."), REPLICATION)
        }
        ServerState::Replica(Some(lag)) if *lag > max_lag => Finding::warning(
            CHECK,
            format!("{name} is {} ms behind, more than `database.max_lag_ms`.", lag.as_millis()),
            REPLICATION,
        ),
        ServerState::Primary | ServerState::Replica(Some(_)) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::super::tests::is;
    use super::*;

    #[test]
    fn servers_that_are_not_what_the_settings_say() {
        let judge =
            |replica, state| database_servers(&[OtherServer { replica, state }], Duration::from_secs(1));
        let behind = |millis| ServerState::Replica(Some(Duration::from_millis(millis)));
        is(&database_servers(&[], Duration::from_secs(1)), Status::Ok, "");
        is(&judge(Some(1), behind(1000)), Status::Ok, "");
        is(&judge(Some(1), behind(1001)), Status::Warning, "pg_stat_replication");
        is(&judge(Some(1), ServerState::Replica(None)), Status::Warning, "pg_stat_replication");
        is(&judge(Some(1), ServerState::Primary), Status::Warning, "database.read_urls");
        is(&judge(Some(1), ServerState::Failed("refused".into())), Status::Warning, "database.read_urls");
        is(&judge(Some(1), ServerState::Foreign), Status::Problem, "database.read_urls");
        is(&judge(None, ServerState::Primary), Status::Ok, "");
        is(&judge(None, behind(1)), Status::Problem, "database.listen_url");
        is(&judge(None, ServerState::Failed("refused".into())), Status::Problem, "database.listen_url");
        is(&judge(None, ServerState::Foreign), Status::Problem, "database.listen_url");
    }
}
