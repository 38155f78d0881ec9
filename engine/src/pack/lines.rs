//! A list of rows: it contains the rows that fit into the budget, and a last line with the cost.

use crate::domain::{DomainError, TokenBudget, TokenProfile};
use crate::text::{O200k, TokenCounter};

/// The budget of a list.
#[derive(Debug, Clone, Copy)]
pub struct Lines {
    /// The requested budget.
    pub budget: TokenBudget,
    /// The token profile of the budget.
    pub profile: TokenProfile,
}

/// The finished list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The reply.
    pub body: String,
    /// The tokens of the reply, in the unit of the profile.
    pub tokens_used: u32,
    /// The number of rows in it.
    pub shown: usize,
}

impl Lines {
    /// Fills the budget with `opening`, rows in order, and the closing line, which contains the number of rows and the
    /// cost of the reply. Each part ends with a line end, and none begins with white space or `/`, so their token
    /// counts can be added.
    ///
    /// # Errors
    /// Returns an error if the budget is too small even for an empty list. The error contains the minimum.
    pub fn fill(
        &self,
        opening: &str,
        rows: &[String],
        closing: impl Fn(usize, u32) -> String,
    ) -> Result<Listed, DomainError> {
        let count = |text: &str| if text.is_empty() { 0 } else { O200k.count(text) };
        let room = self.profile.to_o200k(self.budget).0;
        let costs: Vec<u32> = rows.iter().map(|row| count(row)).collect();
        let cost_of = |shown: usize| {
            let rows = count(opening) + costs.iter().take(shown).sum::<u32>();
            self.profile.stated(|used| rows + count(&closing(shown, used)))
        };
        // While the rows certainly fit, the closing line is not rendered. After that, the complete reply is counted.
        let mut spent = count(opening);
        let fits = costs.iter().take_while(|cost| {
            spent += **cost;
            spent <= room
        });
        let mut shown = fits.count();
        let mut tokens_used = cost_of(shown);
        while tokens_used > self.budget.get() {
            let Some(fewer) = shown.checked_sub(1) else {
                return Err(DomainError::BudgetTooSmall { budget: self.budget.get(), minimum: tokens_used });
            };
            shown = fewer;
            tokens_used = cost_of(shown);
        }
        let rows: String = rows.iter().take(shown).map(String::as_str).collect();
        Ok(Listed { body: format!("{opening}{rows}{}", closing(shown, tokens_used)), tokens_used, shown })
    }

    /// The cost of a reply in words: `57 tokens`, or `about 92 Claude tokens`.
    pub fn cost(&self, used: u32) -> String {
        if self.profile.is_exact() { format!("{used} tokens") } else { format!("about {used} Claude tokens") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::TokenCount;

    #[test]
    fn a_list_states_its_cost_and_holds_as_many_rows_as_fit() {
        let rows: Vec<String> = (0..40).map(|n| format!("#{n} a row of a list 上海\n")).collect();
        let mut shown = 0;
        for profile in [TokenProfile::O200K, TokenProfile::CLAUDE] {
            for budget in (1..120).chain([400, 1500]) {
                let lines = Lines { budget: budget.try_into().unwrap(), profile };
                let closing = |shown: usize, used: u32| format!("{shown} of 40, {}\n", lines.cost(used));
                match lines.fill("", &rows, closing) {
                    Ok(listed) => {
                        let real = profile.of_o200k(TokenCount(O200k.count(&listed.body)));
                        assert_eq!(listed.tokens_used, real, "{}", listed.body);
                        assert!(real <= budget && listed.body.contains(&lines.cost(real)), "{}", listed.body);
                        shown = listed.shown;
                    }
                    Err(DomainError::BudgetTooSmall { minimum, .. }) => assert!(budget < minimum && minimum < 30),
                    Err(error) => panic!("{error}"),
                }
            }
        }
        assert_eq!(shown, 40);
    }
}
