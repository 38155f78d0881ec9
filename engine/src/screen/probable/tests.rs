//! Tests which texts contain probable secrets, which do not, and how texts are cut.

use super::*;

fn found(text: &str) -> Vec<&str> {
    probable(text).into_iter().map(|finding| &text[finding.span]).collect()
}

#[test]
fn a_secret_is_found_however_a_person_phrases_it() {
    let missed: Vec<&str> = [
        ("log into grafana as viewer with lookdonttouch", "lookdonttouch"),
        ("Office wireless: it's Heron and then 2044, no spaces", "2044"),
        ("Пароль от тестового сервера — тыква", "тыква"),
        ("mobil po babičce odemkneš 309155", "309155"),
        ("jenkins → deploybot : w00denSpoon", "w00denSpoon"),
        ("wifi chez mamie → lavande et miel", "lavande et miel"),
        ("दादी का फ़ोन 516308 से अनलॉक होता है", "516308"),
    ]
    .into_iter()
    .filter(|(text, secret)| !found(text).iter().any(|found| found.contains(secret)))
    .map(|(text, _)| text)
    .collect();
    assert_eq!(missed, Vec::<&str>::new());
}

#[test]
fn a_note_that_only_speaks_about_secrets_stays_as_it_is() {
    for text in [
        "",
        "I prefer Svelte for new frontends",
        "Passwords need 12 characters and one digit",
        "The password is in 1Password, ask Maria",
        "Das Passwort läuft nach 90 Tagen ab",
        "パスワードは12文字以上にしてください。",
        "The staging port is 7171",
        "The PIN is [secret s7k4q2: PIN]",
        "# Staging\n\n- [port] staging listens on 6000\n- [host] it runs on oak",
    ] {
        assert_eq!(found(text), Vec::<&str>::new(), "{text}");
    }
}

#[test]
fn a_secret_in_another_normal_form_is_found_at_its_place() {
    let text: String = "mobil po babičce odemkneš 309155".nfd().collect();
    assert!(found(&text).iter().any(|found| found.contains("309155")), "{:?}", found(&text));
}

#[test]
fn the_table_is_read_as_it_is_written() {
    let bytes = TABLE;
    assert_eq!(Table::read(bytes).unwrap().to_bytes(), bytes);
    assert_eq!(Table::read(&bytes[1..]), None);
}

#[test]
fn a_text_is_cut_into_parts_without_gaps() {
    for text in ["", "short", &"word ".repeat(300), &"one line\n".repeat(200), &"漢字".repeat(400), &"é".repeat(999)]
    {
        let parts = parts(text);
        assert!(parts.iter().all(|part| part.len() <= LONGEST_PART && text.get(part.clone()).is_some()));
        assert_eq!(parts.iter().map(|part| &text[part.clone()]).collect::<String>(), text);
    }
}

#[test]
fn a_token_alone_is_left_to_the_rules() {
    for alone in ["nvkey-AFNjXAgQdLYwZo2zJJUKLMIE4zrPYAksXDqWRXI_0Js5FX", "jwt-base64", "RUNPOD_API_KEY=rpa_short\n"] {
        assert_eq!(found(alone), Vec::<&str>::new(), "{alone}");
    }
    assert_ne!(found("the gate of the warehouse opens with pumpkin soup"), Vec::<&str>::new());
}

#[test]
fn the_name_of_a_file_is_no_secret() {
    assert_eq!(found("Me: shake-0928-113.txt in the bucket."), Vec::<&str>::new());
    assert!(names_file("a/b.rs") && !names_file("pumpkin.soup") && !names_file("a b.txt") && !names_file("txt"));
}
