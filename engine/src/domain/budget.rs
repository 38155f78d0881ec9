//! Token budgets and token profiles.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::DomainError;

/// A number of o200k_base tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct TokenCount(pub u32);

/// Maximum tokens of a reply, envelope included: 1 to 100 000, in the profile's unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenBudget(u32);

impl TokenBudget {
    /// The default budget of a recall.
    pub const DEFAULT: Self = Self(1000);
    /// The largest valid budget.
    pub const MAX: u32 = 100_000;

    /// The number of tokens.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl TryFrom<u32> for TokenBudget {
    type Error = DomainError;

    fn try_from(tokens: u32) -> Result<Self, DomainError> {
        if !(1..=Self::MAX).contains(&tokens) {
            return Err(DomainError::invalid("max_tokens", format!("{tokens} is out of range"), "use 1 to 100000"));
        }
        Ok(Self(tokens))
    }
}

/// The tokenizer of a budget: exact o200k_base, or an estimate of Claude's.
///
/// Claude's tokenizer is not public. Third parties measured 1.2 to 1.5 × o200k_base on current models. So `claude`
/// divides the budget by a factor (default 1.6). Replies say that the number is an estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenProfile {
    /// The factor in hundredths: 100 for o200k_base, 160 for the default Claude estimate.
    factor_percent: u32,
}

impl TokenProfile {
    /// Exact o200k_base tokens.
    pub const O200K: Self = Self { factor_percent: 100 };
    /// Estimated tokens of current Claude models.
    pub const CLAUDE: Self = Self { factor_percent: 160 };

    /// The number of o200k_base tokens that fit into a budget of this profile.
    pub fn to_o200k(self, budget: TokenBudget) -> TokenCount {
        let tokens = u64::from(budget.get()) * 100 / u64::from(self.factor_percent);
        TokenCount(u32::try_from(tokens).unwrap_or(u32::MAX))
    }

    /// Converts a count of o200k_base tokens to this profile, rounded up.
    pub fn of_o200k(self, count: TokenCount) -> u32 {
        let tokens = (u64::from(count.0) * u64::from(self.factor_percent)).div_ceil(100);
        u32::try_from(tokens).unwrap_or(u32::MAX)
    }

    /// The cost of a reply that contains its own number of tokens. `tokens` returns the number of tokens of the reply
    /// if the reply contains the given number. Returns the number that is equal to the cost of the reply in the unit of
    /// this profile.
    pub fn stated(self, tokens: impl Fn(u32) -> u32) -> u32 {
        // A number with more digits costs more, so the value only grows, and the loop ends after one or two steps.
        let mut used = 0;
        loop {
            let next = self.of_o200k(TokenCount(tokens(used)));
            if next <= used {
                return used;
            }
            used = next;
        }
    }

    /// The name of the unit in JSON replies.
    pub fn unit(self) -> &'static str {
        if self.is_exact() { "o200k_base" } else { "claude_estimate" }
    }

    /// True if the counts are exact.
    pub fn is_exact(self) -> bool {
        self == Self::O200K
    }
}

impl fmt::Display for TokenProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_exact() {
            return f.write_str("o200k_base");
        }
        write!(f, "claude (estimate, {}.{:02} x o200k_base)", self.factor_percent / 100, self.factor_percent % 100)
    }
}

impl FromStr for TokenProfile {
    type Err = DomainError;

    /// Parses `o200k`, `claude`, or `claude:1.45`.
    fn from_str(text: &str) -> Result<Self, DomainError> {
        let bad = || DomainError::invalid("token_profile", "is unknown", "use o200k, claude or claude:1.45");
        match text.trim().to_ascii_lowercase().as_str() {
            "o200k" | "o200k_base" => Ok(Self::O200K),
            "claude" => Ok(Self::CLAUDE),
            other => {
                let factor = other.strip_prefix("claude:").ok_or_else(bad)?;
                let factor: f64 = factor.parse().map_err(|_| bad())?;
                if !(1.0..=4.0).contains(&factor) {
                    return Err(bad());
                }
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1.0 to 4.0")]
                let factor_percent = (factor * 100.0).round() as u32;
                Ok(Self { factor_percent })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_never_lets_more_through_than_the_budget() {
        for profile in [TokenProfile::O200K, TokenProfile::CLAUDE, "claude:1.33".parse().unwrap()] {
            for tokens in [1, 2, 3, 63, 64, 999, 1000, 1001, 99_999] {
                let budget = TokenBudget::try_from(tokens).unwrap();
                assert!(profile.of_o200k(profile.to_o200k(budget)) <= tokens);
            }
        }
    }

    #[test]
    fn profiles_and_budgets_refuse_nonsense() {
        assert!(TokenBudget::try_from(0).is_err());
        assert!(TokenBudget::try_from(100_001).is_err());
        for bad in ["gpt", "claude:0.1", "claude:NaN", "claude:x"] {
            assert!(bad.parse::<TokenProfile>().is_err(), "{bad}");
        }
    }
}
