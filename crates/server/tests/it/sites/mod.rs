//! Tests publishing, changing, claiming and deleting pages through the API.

mod single_files;
mod site_claim;
mod site_content;
mod site_delete;
mod site_diff;
mod site_download;
mod site_edit;
mod site_files;
mod site_patch;
mod site_put;
mod site_title;
mod site_versions;
mod sites_get;
mod sites_post;
mod slugs;
