//! The list of all checks with their names. `docs/doctor.md` describes each of them in the same order.

/// What a check is about; results are shown in these groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    Setup,
    Addresses,
    Https,
    Proxy,
    Storage,
    Machine,
    Email,
}

impl Group {
    pub const ALL: [Self; 7] =
        [Self::Setup, Self::Addresses, Self::Https, Self::Proxy, Self::Storage, Self::Machine, Self::Email];

    pub const fn title(self) -> &'static str {
        match self {
            Self::Setup => "Setup",
            Self::Addresses => "Addresses",
            Self::Https => "HTTPS",
            Self::Proxy => "Proxy",
            Self::Storage => "Storage",
            Self::Machine => "Machine",
            Self::Email => "Email",
        }
    }
}

macro_rules! checks {
    ($($variant:ident = $id:literal, $title:literal, $group:ident;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Check { $($variant,)* }

        impl Check {
            /// Every check, in the order in which results are shown.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stable name in JSON.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)* }
            }

            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }

            pub const fn group(self) -> Group {
                match self { $(Self::$variant => Group::$group,)* }
            }
        }
    };
}

checks! {
    Settings = "settings", "Settings", Setup;
    Server = "server", "Running server", Setup;
    SecondServer = "second_server", "One server per database", Setup;
    KeyFiles = "key_files", "Permissions of key files", Setup;
    Dns = "dns", "DNS records", Addresses;
    WildcardDns = "wildcard_dns", "Wildcard DNS", Addresses;
    Reachability = "reachability", "Reachable from outside", Addresses;
    Certificate = "certificate", "Certificates", Https;
    Acme = "acme", "Certificate orders", Https;
    PublicAddress = "public_address", "Public address", Proxy;
    Host = "host", "Host header", Proxy;
    ClientAddress = "client_address", "Client addresses", Proxy;
    TrustedProxies = "trusted_proxies", "Trusted proxies", Proxy;
    UploadSize = "upload_size", "Size of uploads", Proxy;
    LargeHeaders = "large_headers", "Large headers", Proxy;
    Streaming = "streaming", "Streaming", Proxy;
    Database = "database", "Database", Storage;
    Schema = "schema", "Database schema", Storage;
    DatabaseSettings = "database_settings", "Database settings", Storage;
    DatabaseServers = "database_servers", "Other database servers", Storage;
    Integrity = "integrity", "Database integrity", Storage;
    Bodies = "bodies", "File storage", Storage;
    DataDir = "data_dir", "Data folder", Storage;
    DiskSpace = "disk_space", "Disk space", Storage;
    Backup = "backup", "Backups", Storage;
    Clock = "clock", "Clock", Machine;
    FileLimit = "file_limit", "Open file limit", Machine;
    Memory = "memory", "Memory", Machine;
    Mail = "mail", "Email", Email;
}
