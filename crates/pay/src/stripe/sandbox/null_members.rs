//! Members that are always null: the processor's objects have dozens, and its clients are typed for them.

use serde_json::Value;

/// Adds members that are null.
pub(super) fn with_nulls(mut object: Value, names: &[&str]) -> Value {
    if let Value::Object(members) = &mut object {
        members.extend(names.iter().map(|name| ((*name).to_owned(), Value::Null)));
    }
    object
}
