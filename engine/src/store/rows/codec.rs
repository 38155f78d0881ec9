//! Reads and writes groups of columns. Each group is listed once. From this list, the macro derives the names, the
//! reading and the writing in the same order, so nobody counts columns by hand.
//!
//! There is one method per kind of result: all rows, at most one row, one row, or only the effect. Statements are
//! prepared once and cached.

use rusqlite::types::{FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Params, Row};

/// Reads a value from one column.
pub(crate) trait FromCell: Sized {
    fn from_cell(value: ValueRef<'_>) -> FromSqlResult<Self>;
}

/// Writes a value to one column.
pub(crate) trait ToCell {
    fn to_cell(&self) -> rusqlite::Result<ToSqlOutput<'_>>;
}

/// Reads a field from one or more columns.
pub(crate) trait FromColumns: Sized {
    fn from_columns(from: &mut Reader<'_, '_>) -> rusqlite::Result<Self>;
}

/// Writes a field to one or more columns.
pub(crate) trait ToColumns {
    fn to_columns<'a>(&'a self, to: &mut Values<'a>) -> rusqlite::Result<()>;
}

/// The parameters of a statement in the order of its columns.
pub(crate) type Values<'a> = Vec<ToSqlOutput<'a>>;

/// Reads the columns of a row in order, beginning with the first.
pub(crate) struct Reader<'row, 'statement> {
    row: &'row Row<'statement>,
    next: usize,
}

impl<'row, 'statement> Reader<'row, 'statement> {
    pub(crate) fn new(row: &'row Row<'statement>) -> Self {
        Self { row, next: 0 }
    }

    /// The next field.
    pub(crate) fn take<T: FromColumns>(&mut self) -> rusqlite::Result<T> {
        T::from_columns(self)
    }

    /// The next column.
    pub(crate) fn cell<T: FromCell>(&mut self) -> rusqlite::Result<T> {
        let at = self.next;
        self.next += 1;
        let value = self.row.get_ref(at)?;
        T::from_cell(value).map_err(|error| match error {
            FromSqlError::InvalidType => {
                let name = self.row.as_ref().column_name(at).unwrap_or_default().to_owned();
                rusqlite::Error::InvalidColumnType(at, name, value.data_type())
            }
            FromSqlError::OutOfRange(number) => rusqlite::Error::IntegralValueOutOfRange(at, number),
            other => rusqlite::Error::FromSqlConversionFailure(at, value.data_type(), Box::new(other)),
        })
    }
}

impl<T: FromCell> FromCell for Option<T> {
    fn from_cell(value: ValueRef<'_>) -> FromSqlResult<Self> {
        if matches!(value, ValueRef::Null) { Ok(None) } else { T::from_cell(value).map(Some) }
    }
}

impl<T: ToCell> ToCell for Option<T> {
    fn to_cell(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.as_ref().map_or(Ok(ToSqlOutput::Borrowed(ValueRef::Null)), ToCell::to_cell)
    }
}

impl<T: FromCell> FromColumns for T {
    fn from_columns(from: &mut Reader<'_, '_>) -> rusqlite::Result<Self> {
        from.cell()
    }
}

impl<T: ToCell> ToColumns for T {
    fn to_columns<'a>(&'a self, to: &mut Values<'a>) -> rusqlite::Result<()> {
        to.push(self.to_cell()?);
        Ok(())
    }
}

/// Lists the columns of a record for reading: `"column" => field`, or `"one" & "two" => field` for a field with two
/// columns. Fields that are listed under `beside` have no column. Defines a type with a function `read`, and the
/// constant `LIST` with the names of the columns.
macro_rules! read_columns {
    ($(#[$doc:meta])* $group:ident of $record:ident {
        $first:literal $(& $more:literal)* => $head:ident,
        $($($column:literal)&+ => $field:ident,)*
    } $(beside { $($rest:ident: $value:expr,)+ })?) => {
        $(#[$doc])*
        pub(crate) struct $group;

        impl $group {
            /// The names of the columns for a statement.
            pub(crate) const LIST: &'static str = concat!($first $(, ", ", $more)* $($(, ", ", $column)+)*);

            /// Reads the record from the next columns.
            pub(crate) fn read(from: &mut $crate::store::rows::codec::Reader<'_, '_>) -> rusqlite::Result<$record> {
                Ok($record { $head: from.take()?, $($field: from.take()?,)* $($($rest: $value,)+)? })
            }
        }
    };
}
pub(crate) use read_columns;

/// Lists the columns of a record for writing, like [`read_columns`]. Adds `NAMES` and `write` to a type that describes
/// columns.
macro_rules! write_columns {
    ($group:ident of $record:ident {
        $first:literal $(& $more:literal)* => $head:ident,
        $($($column:literal)&+ => $field:ident,)*
    }) => {
        impl $group {
            /// The names of the columns.
            pub(crate) const NAMES: &'static [&'static str] = &[$first $(, $more)* $($(, $column)+)*];

            /// Adds the values of a record.
            pub(crate) fn write<'a>(
                record: &'a $record,
                to: &mut $crate::store::rows::codec::Values<'a>,
            ) -> rusqlite::Result<()> {
                $crate::store::rows::codec::ToColumns::to_columns(&record.$head, to)?;
                $($crate::store::rows::codec::ToColumns::to_columns(&record.$field, to)?;)*
                Ok(())
            }
        }
    };
}
pub(crate) use write_columns;

/// Lists the columns of a record for reading and writing: [`read_columns`] and [`write_columns`] together.
macro_rules! columns {
    ($(#[$doc:meta])* $group:ident of $record:ident { $($columns:tt)* } $($beside:tt)*) => {
        $crate::store::rows::codec::read_columns! { $(#[$doc])* $group of $record { $($columns)* } $($beside)* }
        $crate::store::rows::codec::write_columns! { $group of $record { $($columns)* } }
    };
}
pub(crate) use columns;

/// Joins constant parts of a statement at compile time.
macro_rules! sql {
    ($($piece:expr),+ $(,)?) => {{
        const PIECES: &[&str] = &[$($piece),+];
        const JOINED: [u8; $crate::store::rows::codec::length(PIECES)] = $crate::store::rows::codec::joined(PIECES);
        const SQL: &str = match std::str::from_utf8(&JOINED) {
            Ok(sql) => sql,
            Err(_) => panic!("complete texts are joined, so the result is valid UTF-8"),
        };
        SQL
    }};
}
pub(crate) use sql;

/// The number of bytes of all parts.
pub(crate) const fn length(pieces: &[&str]) -> usize {
    let mut rest = pieces;
    let mut length = 0;
    while let [piece, after @ ..] = rest {
        length += piece.len();
        rest = after;
    }
    length
}

/// The joined parts.
pub(crate) const fn joined<const N: usize>(pieces: &[&str]) -> [u8; N] {
    let mut bytes = [0; N];
    let mut room: &mut [u8] = &mut bytes;
    let mut rest = pieces;
    while let [piece, after @ ..] = rest {
        let (place, left) = room.split_at_mut(piece.len());
        place.copy_from_slice(piece.as_bytes());
        room = left;
        rest = after;
    }
    bytes
}

/// A statement that inserts a row into `memories`. The parameter `?1` is the ID; the columns of the groups follow.
pub(crate) fn insert(groups: &[&[&str]]) -> String {
    let names = groups.concat();
    format!("INSERT INTO memories (short_id, {}) VALUES (?1, {})", names.join(", "), places(names.len()))
}

/// A statement that updates groups of columns of the row with the ID `?1`.
pub(crate) fn update(groups: &[&[&str]]) -> String {
    let names = groups.concat();
    format!("UPDATE memories SET ({}) = ({}) WHERE short_id = ?1", names.join(", "), places(names.len()))
}

fn places(columns: usize) -> String {
    let places: Vec<String> = (2..columns + 2).map(|number| format!("?{number}")).collect();
    places.join(", ")
}

/// Queries. `read` converts a row.
pub(crate) trait Ask {
    /// The error type.
    type Error;

    /// All rows.
    fn all<T>(
        &self,
        sql: &str,
        with: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Self::Error>;

    /// The first row, if there is one.
    fn maybe<T>(
        &self,
        sql: &str,
        with: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Self::Error>;

    /// The first row.
    fn one<T>(
        &self,
        sql: &str,
        with: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Self::Error>;
}

/// Statements that change a database. Each of these functions executes a statement that changes rows, and returns their
/// number.
pub(crate) trait Run {
    fn run(&self, sql: &str, with: impl Params) -> rusqlite::Result<usize>;
}

impl Run for Connection {
    fn run(&self, sql: &str, with: impl Params) -> rusqlite::Result<usize> {
        self.prepare_cached(sql)?.execute(with)
    }
}

impl Ask for Connection {
    type Error = rusqlite::Error;

    fn all<T>(
        &self,
        sql: &str,
        with: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        self.prepare_cached(sql)?.query_map(with, read)?.collect()
    }

    fn maybe<T>(
        &self,
        sql: &str,
        with: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        self.one(sql, with, read).optional()
    }

    fn one<T>(
        &self,
        sql: &str,
        with: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        self.prepare_cached(sql)?.query_row(with, read)
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[derive(Debug, PartialEq)]
    pub(crate) struct Pair {
        name: String,
        size: Option<u32>,
        kept: bool,
    }

    columns! {
        /// Two columns, and a field without a column.
        PairColumns of Pair {
            "name" => name,
            "size" => size,
        } beside {
            kept: true,
        }
    }

    #[test]
    fn statements_name_each_column_once_and_number_what_they_are_given() {
        const LIST: &str = sql!("SELECT ", PairColumns::LIST, " FROM pairs");
        assert_eq!(LIST, "SELECT name, size FROM pairs");
        assert_eq!(
            insert(&[PairColumns::NAMES, &["more"]]),
            "INSERT INTO memories (short_id, name, size, more) VALUES (?1, ?2, ?3, ?4)"
        );
        assert_eq!(update(&[PairColumns::NAMES]), "UPDATE memories SET (name, size) = (?2, ?3) WHERE short_id = ?1");
    }

    #[test]
    fn a_record_is_written_and_read_in_the_order_of_its_list() {
        let pair = Pair { name: "x".into(), size: Some(7), kept: true };
        let mut values = Values::new();
        PairColumns::write(&pair, &mut values).unwrap();
        let connection = Connection::open_in_memory().unwrap();
        let read = |sql: &str, values: Values<'_>| {
            connection
                .query_row(sql, rusqlite::params_from_iter(values), |row| PairColumns::read(&mut Reader::new(row)))
        };
        assert_eq!(read("SELECT ?1 AS name, ?2 AS size", values), Ok(pair));
        for (sql, problem) in [
            ("SELECT 'x' AS name, 'y' AS size", "Invalid column type Text at index: 1, name: size"),
            ("SELECT 'x' AS name, -1 AS size", "Integer -1 out of range at index 1"),
            ("SELECT NULL AS name, 1 AS size", "Invalid column type Null at index: 0, name: name"),
        ] {
            assert_eq!(read(sql, Values::new()).unwrap_err().to_string(), problem);
        }
    }
}
