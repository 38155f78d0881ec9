//! What can be wrong with a value before it becomes a noun.

/// A value that the domain refuses, with the field it was meant for and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DomainError {
    /// A field holds something that the field cannot hold. The user mends it.
    #[error("{field}: {problem}; {fix}")]
    Invalid {
        /// The field, as the user named it.
        field: &'static str,
        /// What is wrong with the value, without repeating private text.
        problem: String,
        /// What to do instead.
        fix: &'static str,
    },
    /// The token budget cannot hold even an empty reply.
    #[error("max_tokens: {budget} cannot hold a reply; the minimum here is {minimum}")]
    BudgetTooSmall {
        /// The budget asked for, in the unit of the token profile.
        budget: u32,
        /// The smallest budget that works for this request, in the same unit.
        minimum: u32,
    },
}

impl DomainError {
    /// Builds [`DomainError::Invalid`].
    pub fn invalid(field: &'static str, problem: impl Into<String>, fix: &'static str) -> Self {
        Self::Invalid { field, problem: problem.into(), fix }
    }
}

/// Implements `FromStr` for enums whose variants have names: the type, its field, and how to fix an unknown name.
macro_rules! by_name {
    ($Type:ty, $field:literal, $fix:literal) => {
        impl ::std::str::FromStr for $Type {
            type Err = $crate::domain::DomainError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let unknown = || Self::Err::invalid($field, "is unknown", $fix);
                Self::named(&text.trim().to_lowercase()).ok_or_else(unknown)
            }
        }
    };
}
pub(super) use by_name;
