//! Errors of invalid values.

/// An invalid value, with its field and the fix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DomainError {
    /// The value is not valid for the field.
    #[error("{field}: {problem}; {fix}")]
    Invalid {
        /// The field, as the user named it.
        field: &'static str,
        /// The problem, without private text.
        problem: String,
        /// The fix.
        fix: &'static str,
    },
    /// The token budget is too small even for an empty reply.
    #[error("max_tokens: {budget} is too small for a reply; the minimum here is {minimum}")]
    BudgetTooSmall {
        /// The requested budget, in the unit of the token profile.
        budget: u32,
        /// The smallest possible budget for this request, in the same unit.
        minimum: u32,
    },
}

impl DomainError {
    /// Builds [`DomainError::Invalid`].
    pub fn invalid(field: &'static str, problem: impl Into<String>, fix: &'static str) -> Self {
        Self::Invalid { field, problem: problem.into(), fix }
    }
}

/// Implements `FromStr` for enums with named variants. Arguments: the type, its field, and the fix for an unknown name.
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
