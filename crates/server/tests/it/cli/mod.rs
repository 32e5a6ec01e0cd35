//! Tests commands of the real binary; those of MCP are in `mcp`.

mod backup_cli;
mod check_cli;
mod config_cli;
mod doctor_cli;
mod doctor_services;
mod doctor_storage;
mod doctor_world;
mod download_cli;
mod edit_cli;
mod facilitator_cli;
mod generate_cli;
mod healthcheck_cli;
mod login_cli;
mod newer_schema_cli;
mod pages_cli;
mod pay_cli;
mod payments_cli;
mod processor_cli;
mod publish_cli;
mod restore_drill;
mod share_cli;
mod terminal_cli;
mod webhooks_cli;
