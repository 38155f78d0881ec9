//! Wording that was missed or found in part: values of several scripts, on the next line, beside what replaced them.

use super::{all_found, found, none_found};

#[test]
fn values_of_several_scripts_are_found_whole() {
    all_found(
        &[
            "密码是 @@",
            "密码是@@",
            "密码：@@",
            "密码为@@，端口8080",
            "пароль: @@",
            "パスワードは@@",
            "비밀번호는 @@ 입니다",
            "password: @@",
        ],
        &[
            "龙虎豹9!Xq",
            "龙在天Ab1c9!",
            "はやぶさ9!Xq",
            "이순신9!Xq",
            "Мой9!Пароль",
            "абвг123!Xyz",
            "Xq9!龙虎豹",
            "Xq龙虎9!",
        ],
    );
    all_found(&["пароль от сервера: @@", "пароль это @@"], &["Ключ9!дом", "Отель77!x"]);
    all_found(&["パスワードは@@", "パスワードは@@です"], &["はやぶさ9!Xq"]);
    all_found(&["비밀번호는 @@", "비밀번호는 @@입니다"], &["호랑이Ab1c9!", "이순신9!Xq"]);
    all_found(&["パスワードは@@", "密码：@@"], &["さくらAb1c9!うみ"]);
    all_found(&["비밀번호는 @@"], &["호랑Ab1c9!바다"]);
    all_found(&["密码是@@请保密", "パスワードは@@です", "密码是@@，用户名是bob"], &["Xy7kQ9mB2z"]);
    none_found(&[
        "密码是错误的,请重试",
        "密码必须至少8位",
        "密码是8位以上",
        "密码是用argon2id存的",
        "пароль неверный!",
        "пароль введён, ждём 3 дня",
        "пароль: см. раздел 4.2",
        "パスワードは8文字以上です",
        "비밀번호는 8자 이상",
    ]);
}

#[test]
fn names_of_words_behind_a_verb_are_passwords() {
    all_found(
        &["the wifi password is @@", "The admin password is @@.", "the door code password is @@", "password: @@"],
        &["otter-Plume77", "tessera-app7", "K3strel-9-Otter"],
    );
    all_found(&["The database password is \"@@\""], &["production7X", "otter-Plume77"]);
    none_found(&[
        "the password service is billing-api2",
        "the password policy is policy-nist63",
        "the password db is postgres-15",
        "the password is in vault-prod-2",
        "the password is \"user_password1\"",
    ]);
}

#[test]
fn values_are_found_in_the_line_below_and_behind_an_open_quote() {
    all_found(
        &[
            "password:\n  @@",
            "password:\n@@\nand more",
            "**Password:**\n`@@`",
            "Password\n@@",
            "the password\nis @@",
            "the password for\nstaging is @@",
            "the password is\n@@",
            "password: \"@@ and then a long sentence",
        ],
        &["Kd8!wqzT7", "Xy7kQ9mB2z"],
    );
    none_found(&[
        "Reset password\nThe limit is v2-alpha9 here",
        "Password\nmust be changed every 90 days",
        "the password\nis stored in 1Password",
        "password:\n  - min8chars",
        "password:\n  secretKeyRef: db-creds-1",
        "app.password=\njdbc.app.url=",
        "password file\nuser1234",
        "Password\nPassword2",
    ]);
}

#[test]
fn both_sides_of_a_change_are_found() {
    assert_eq!(found("changed the admin password from OldPass!1 to NewPass!2"), ["OldPass!1", "NewPass!2"]);
    assert_eq!(found("rotated the password for grafana from 'Lw4!zP9q' to 'Rk9!wqzT7'"), ["Lw4!zP9q", "Rk9!wqzT7"]);
    none_found(&[
        "we moved the password from Vault2 to SSO",
        "changed the password hash from sha256 to argon2",
        "moved the password reset from users-api2 to auth-api2",
    ]);
}

#[test]
fn short_names_logins_and_seeds_are_found() {
    all_found(&["u: svc p: @@", "use @@ to log in as admin"], &["Kd8!wqzT7", "Sommer&4069"]);
    all_found(&["TOTP seed @@", "the totp seed is @@"], &["IHGW2P7HSHSF5O6Y"]);
    all_found(&["twilio auth @@"], &["9f1cb4ae46ec494b2e2bb8198addfca2"]);
    all_found(&["the pin for the safe is @@"], &["739568"]);
    none_found(&[
        "use OAuth2 to log in",
        "use npm2 to log in",
        "TOTP seed length is 160 bits",
        "map: k p: value",
        "u: ada p: 12",
        "row: r2 p: 0.0521",
        "twilio auth is flaky",
        "the pin for the connector is 4711 mm",
    ]);
}

#[test]
fn bodies_of_private_keys_are_found_without_the_lines_around_them() {
    let drawn = "Qm7ZtB3xKp9LwR2vYs8NdF4h";
    let body = format!("MIIE{}IBADANBgkqhkiG9w0BAQEF{}\n{}==", "vQ", drawn.repeat(3), drawn.repeat(2));
    assert_eq!(found(&format!("the signing one:\n{body}\nkeep it")), [body.as_str()]);
    let curve = format!("MC4{}wBQYDK2VwBCIEI{}", "CAQA", drawn.repeat(2));
    assert_eq!(found(&format!("seed of ours: {curve}")), [curve.as_str()]);
    // The public half says nothing.
    none_found(&[&format!("MIIB{}ANBgkqhkiG9w0BAQEFAAOCAQ8A{}", "Ij", drawn.repeat(3))]);
}
