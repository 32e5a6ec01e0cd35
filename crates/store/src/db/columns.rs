//! Named columns: one list gives both the text of a `SELECT` and the positions to read, so the two cannot disagree.
//!
//! Positions are constants. Nothing is looked up by name at run time.

/// Declares the columns that a query selects and a row is read by.
///
/// `columns! { SiteColumns, site_columns, "s.": id, title, views = "COUNT(*)" }` declares the macro `site_columns!()`, which
/// expands to the literal `"s.id, s.title, COUNT(*)"`, and the struct `SiteColumns`, whose fields `id`, `title` and `views`
/// are the positions of these columns. The table prefix may be left out.
macro_rules! columns {
    ($columns:ident, $list:ident: $($rest:tt)+) => {
        $crate::db::columns! { $columns, $list, "": $($rest)+ }
    };
    ($columns:ident, $list:ident, $prefix:literal:
     $first:ident $(= $first_sql:literal)? $(, $name:ident $(= $sql:literal)?)* $(,)?) => {
        macro_rules! $list {
            () => {
                concat!(
                    $crate::db::column_sql!($prefix, $first $(, $first_sql)?)
                    $(, ", ", $crate::db::column_sql!($prefix, $name $(, $sql)?))*
                )
            };
        }

        /// The position of each column.
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $columns {
            $first: usize,
            $($name: usize,)*
        }

        impl $columns {
            pub(crate) const COUNT: usize = [stringify!($first) $(, stringify!($name))*].len();

            /// The positions in a query that selects these columns after `position` others.
            pub(crate) const fn starting_at(position: usize) -> Self {
                let mut next = position;
                let $first = next;
                next += 1;
                $(
                    let $name = next;
                    next += 1;
                )*
                assert!(next == position + Self::COUNT);
                Self { $first, $($name),* }
            }
        }
    };
}

/// The text of one column for [`columns`]: its own expression, or its name after the prefix of its table.
macro_rules! column_sql {
    ($prefix:literal, $name:ident) => {
        concat!($prefix, stringify!($name))
    };
    ($prefix:literal, $name:ident, $sql:literal) => {
        $sql
    };
}

pub(crate) use {column_sql, columns};

#[cfg(test)]
mod tests {
    columns! { PageColumns, page_columns, "p.": id, title, views = "COUNT(*)" }
    columns! { OwnerColumns, owner_columns: email, plan }

    #[test]
    fn the_list_and_the_positions_are_in_the_same_order() {
        const PAGE: PageColumns = PageColumns::starting_at(0);
        const OWNER: OwnerColumns = OwnerColumns::starting_at(PageColumns::COUNT);
        assert_eq!(concat!(page_columns!(), ", ", owner_columns!()), "p.id, p.title, COUNT(*), email, plan");
        assert_eq!([PAGE.id, PAGE.title, PAGE.views, OWNER.email, OWNER.plan], [0, 1, 2, 3, 4]);
    }
}
