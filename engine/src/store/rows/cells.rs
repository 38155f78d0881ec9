//! Converts the engine's values from and to columns.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Value, ValueRef};
use uuid::Uuid;

use super::codec::{FromCell, FromColumns, Reader, ToCell, ToColumns, Values};
use crate::domain::{
    Category, DomainError, FilePath, Importance, InFile, LinkKind, MemoryType, MemoryUuid, Metadata, Origin,
    Permission, Scope, Share, ShortId, Tag, Timestamp, Trust,
};
use crate::pack::Passage;

impl ToSql for MemoryUuid {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.as_bytes())))
    }
}

impl FromSql for MemoryUuid {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let uuid = Uuid::from_slice(value.as_blob()?).map_err(|error| FromSqlError::Other(Box::new(error)))?;
        Ok(Self::from_uuid(uuid))
    }
}

impl ToSql for Timestamp {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_micros().into())
    }
}

impl FromSql for Timestamp {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(Self::from_micros(value.as_i64()?))
    }
}

impl ToSql for ShortId {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.get().into())
    }
}

impl FromSql for ShortId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let number = u32::column_result(value)?;
        Self::try_from(number).map_err(other)
    }
}

fn other(error: DomainError) -> FromSqlError {
    FromSqlError::Other(Box::new(error))
}

/// Types that SQLite supports.
macro_rules! plain {
    ($($type:ty),+) => {$(
        impl FromCell for $type {
            fn from_cell(value: ValueRef<'_>) -> FromSqlResult<Self> {
                <$type as FromSql>::column_result(value)
            }
        }

        impl ToCell for $type {
            fn to_cell(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.to_sql()
            }
        }
    )+};
}

plain!(bool, u8, u16, u32, u64, i64, String, Vec<u8>, MemoryUuid, Timestamp, ShortId);

/// For types whose values have names: stores a value as its name, and parses the name when it reads the value.
macro_rules! named {
    ($($type:ty),+) => {$(
        impl FromCell for $type {
            fn from_cell(value: ValueRef<'_>) -> FromSqlResult<Self> {
                value.as_str()?.parse().map_err(other)
            }
        }

        impl ToCell for $type {
            fn to_cell(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.as_str().to_sql()
            }
        }
    )+};
}

named!(FilePath, Category, MemoryType, Scope, Tag, Permission);

impl FromCell for LinkKind {
    fn from_cell(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::kept(value.as_str()?).map_err(other)
    }
}

impl ToCell for LinkKind {
    fn to_cell(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.as_str().to_sql()
    }
}

impl FromCell for Origin {
    fn from_cell(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str()?.parse().map_err(other)
    }
}

impl ToCell for Origin {
    fn to_cell(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.to_string().into())
    }
}

impl FromCell for Trust {
    /// An unknown trust becomes `foreign`.
    fn from_cell(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(value.as_str()?.parse().unwrap_or(Self::Foreign))
    }
}

impl ToCell for Trust {
    fn to_cell(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.as_str().to_sql()
    }
}

impl FromCell for Metadata {
    fn from_cell(value: ValueRef<'_>) -> FromSqlResult<Self> {
        // Stored numbers fit into 64 bits.
        serde_json::from_str(value.as_str()?).map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

impl ToCell for Metadata {
    fn to_cell(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.to_string().into())
    }
}

/// Lists as JSON.
macro_rules! list {
    ($($type:ty),+) => {$(
        impl FromCell for Vec<$type> {
            fn from_cell(value: ValueRef<'_>) -> FromSqlResult<Self> {
                match value.as_str()? {
                    "[]" => Ok(Self::new()),
                    text => serde_json::from_str(text).map_err(|error| FromSqlError::Other(Box::new(error))),
                }
            }
        }

        impl ToCell for Vec<$type> {
            fn to_cell(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                serde_json::to_string(self)
                    .map(Into::into)
                    .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
            }
        }
    )+};
}

list!(Tag, String);

impl FromCell for Vec<Passage> {
    fn from_cell(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_blob().map(Passage::decode_all)
    }
}

impl ToCell for Vec<Passage> {
    fn to_cell(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Owned(Value::Blob(Passage::encode_all(self))))
    }
}

impl FromColumns for Option<Share> {
    /// Two columns: the owner, and the permission.
    fn from_columns(from: &mut Reader<'_, '_>) -> rusqlite::Result<Self> {
        match from.cell()? {
            Some(by) => Ok(Some(Share { by, permission: from.cell()? })),
            None => from.cell::<Option<String>>().map(|_| None),
        }
    }
}

impl ToColumns for Option<Share> {
    fn to_columns<'a>(&'a self, to: &mut Values<'a>) -> rusqlite::Result<()> {
        match self {
            Some(share) => {
                to.push(share.by.to_cell()?);
                to.push(share.permission.to_cell()?);
            }
            None => to.extend([ToSqlOutput::Borrowed(ValueRef::Null), ToSqlOutput::Borrowed(ValueRef::Null)]),
        }
        Ok(())
    }
}

impl FromColumns for Importance {
    /// Importance has two columns: hundredths, which the ranking uses, and millionths if the hundredths are not exact.
    fn from_columns(from: &mut Reader<'_, '_>) -> rusqlite::Result<Self> {
        Ok(Self::kept(from.cell()?, from.cell()?))
    }
}

impl ToColumns for Importance {
    fn to_columns<'a>(&'a self, to: &mut Values<'a>) -> rusqlite::Result<()> {
        let beyond = self.beyond_percent().map_or(Value::Null, |millionths| Value::Integer(millionths.into()));
        to.extend([ToSqlOutput::Owned(Value::Integer(self.percent().into())), ToSqlOutput::Owned(beyond)]);
        Ok(())
    }
}

impl FromColumns for Option<InFile> {
    fn from_columns(from: &mut Reader<'_, '_>) -> rusqlite::Result<Self> {
        // A copy of an older store does not have these columns.
        let (path, heading, is_whole): (Option<FilePath>, _, Option<bool>) = (from.cell()?, from.cell()?, from.cell()?);
        Ok(path.map(|path| InFile { path, heading, is_whole: is_whole.unwrap_or_default() }))
    }
}

impl ToColumns for Option<InFile> {
    fn to_columns<'a>(&'a self, to: &mut Values<'a>) -> rusqlite::Result<()> {
        let null = || ToSqlOutput::Borrowed(ValueRef::Null);
        match self {
            Some(file) => to.extend([file.path.to_cell()?, file.heading.to_cell()?, file.is_whole.to_cell()?]),
            None => to.extend([null(), null(), false.to_cell()?]),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: FromCell>(text: &str) -> Result<T, String> {
        T::from_cell(ValueRef::Text(text.as_bytes())).map_err(|error| error.to_string())
    }

    #[test]
    fn what_a_type_refuses_is_not_read() {
        assert_eq!(read::<Permission>("write"), Ok(Permission::Write));
        for refused in [
            read::<Permission>("all").map(drop),
            read::<MemoryType>("guess").map(drop),
            read::<Vec<Tag>>("[\"a\", 5]").map(drop),
            read::<Vec<String>>("a").map(drop),
            ShortId::from_cell(ValueRef::Integer(0)).map(drop).map_err(|error| error.to_string()),
            MemoryUuid::from_cell(ValueRef::Blob(&[0; 15])).map(drop).map_err(|error| error.to_string()),
        ] {
            refused.unwrap_err();
        }
    }

    #[test]
    fn a_trust_that_is_not_known_is_none() {
        assert_eq!(read("user"), Ok(Trust::User));
        assert_eq!(read("more than the user"), Ok(Trust::Foreign));
        assert_eq!(Option::<Trust>::from_cell(ValueRef::Null), Ok(None));
    }

    #[test]
    fn lists_are_json_and_an_empty_one_is_written_in_two_characters() {
        let written = Vec::<String>::new();
        assert_eq!(written.to_cell().unwrap(), ToSqlOutput::from("[]".to_owned()));
        let written = vec!["a \"b\"".to_owned(), "ü".to_owned()];
        let ToSqlOutput::Owned(Value::Text(text)) = written.to_cell().unwrap() else { panic!("it is a text") };
        assert_eq!(read(&text), Ok(written));
    }
}
