//! Sentences that state a secret, and sentences that only talk about one.

use super::findings;

fn found(text: &str) -> Vec<&str> {
    findings(text).into_iter().map(|finding| &text[finding.span]).collect()
}

#[test]
fn values_are_taken_whatever_they_spell_in_every_language() {
    for (text, secret) in [
        ("the staging password is sunflower", "sunflower"),
        ("wifi Attic / pass nightowl", "nightowl"),
        ("DB_PASSWORD=Sunflower-9-Rain", "Sunflower-9-Rain"),
        ("my password is correct-Horse-77-battery", "correct-Horse-77-battery"),
        ("admin password was rotated, it's Heron_81 from today", "Heron_81"),
        ("das Kennwort vom Keller-WLAN lautet Nachteule", "Nachteule"),
        ("le mot de passe du NAS est framboise", "framboise"),
        ("la contraseña del panel es mandarina", "mandarina"),
        ("a senha do painel é tangerina", "tangerina"),
        ("la password del pannello è mandarino", "mandarino"),
        ("het wachtwoord van de printer is appelmoes", "appelmoes"),
        ("hasło do drukarki to wiewiórka", "wiewiórka"),
        ("heslo k tiskárně je veverka", "veverka"),
        ("lösenordet till skrivaren är ekorre", "ekorre"),
        ("adgangskoden til printeren er egern", "egern"),
        ("tulostimen salasana on orava", "orava"),
        ("a nyomtató jelszava mókus", "mókus"),
        ("parola imprimantei este veverița", "veverița"),
        ("ο κωδικός του εκτυπωτή είναι σκίουρος", "σκίουρος"),
        ("yazıcının şifresi sincap", "sincap"),
        ("пароль от принтера — белка", "белка"),
        ("пароль від принтера це білка", "білка"),
        ("كلمة المرور هي سنجاب", "سنجاب"),
        ("הסיסמה היא סנאי", "סנאי"),
        ("प्रिंटर का पासवर्ड गिलहरी है", "गिलहरी"),
        ("mật khẩu máy in là con sóc", "con sóc"),
        ("打印机密码是小松鼠", "小松鼠"),
        ("プリンターのパスワードはりすです", "りす"),
        ("프린터 비밀번호는 다람쥐입니다", "다람쥐"),
    ] {
        assert_eq!(found(text), [secret], "{text}");
    }
}

#[test]
fn settings_tables_dialogues_and_pairs_are_read() {
    for (text, secrets) in [
        ("db:\n  user: app\n  password: cinnamon\n", vec!["cinnamon"]),
        ("JWT_SECRET=the owl sleeps at noon", vec!["the owl sleeps at noon"]),
        ("| host | user | password |\n| nas | root | fig tree |\n| oak | bob | in the vault |", vec!["fig tree"]),
        ("<ann> what's the vpn password again\n<bob> gooseberry", vec!["gooseberry"]),
        ("login: admin / admin123", vec!["admin123"]),
        ("sign in to the wiki as guest with blackcurrant", vec!["blackcurrant"]),
        ("sshpass -p Kermit.Frog1 ssh root@oak", vec!["Kermit.Frog1"]),
        ("plum7 is the root password", vec!["plum7"]),
        ("wifi in the shed: wet otter 12", vec!["wet otter 12"]),
        ("the vault passphrase is \"nine slow geese walk home\"", vec!["nine slow geese walk home"]),
        ("backup codes for mail\n8841-2093 7730-1182", vec!["8841-2093", "7730-1182"]),
        ("gate code 4471", vec!["4471"]),
        ("the password (Quiet-Otter-91) is for staging", vec!["Quiet-Otter-91"]),
        ("my mail password? it's mypuppyrex", vec!["mypuppyrex"]),
        ("el pin del teléfono es 9051", vec!["9051"]),
        ("Passwords longer than 72 bytes are truncated by bcrypt", vec![]),
        ("key box by the door: 4-0-9-2", vec!["4-0-9-2"]),
        ("https://cal.example/ical/x/private-77ae0b91f/all.ics", vec!["private-77ae0b91f"]),
        ("https://files.example/a.pdf?expires=1&sig=c0ffee11d00d", vec!["c0ffee11d00d"]),
    ] {
        assert_eq!(found(text), secrets, "{text}");
    }
}

#[test]
fn policies_places_and_questions_state_no_secret() {
    for text in [
        "pass next_cursor with the same query and filters",
        "pass verbose to the runner",
        "the password is required",
        "the password must contain 12 characters",
        "password policy: 12 characters",
        "the admin password is in 1Password",
        "wifi password is on-the-fridge",
        "what is the password policy?\nwe have none",
        "did you change the password?\nann: yes, yesterday",
        "password = request.form['password']",
        "password: ${DB_PASSWORD}",
        "const password = ask();",
        "la contraseña es obligatoria",
        "das Passwort ist abgelaufen",
        "le mot de passe doit contenir 12 caractères",
        "密码至少要有12个字符",
        "パスワードは必須です",
        "비밀번호는 최소 12자 이상이어야 합니다",
        "GPIO pin 4711 drives the relay",
        "error code 4711 means low voltage",
        "first pass: 1200 errors",
        "the cache key is user-2024-11",
        "[secret s7k4q2: password] is the new one",
        "https://docs.example/auth/tokens?lang=en",
        "title: \"key: value bc=Waspwkuaa is\"\ntype: memory",
        "title: What is the door password?\ntype: memory",
        "title: what is the API key for staging\nauthor: Mara\nabout: fact",
    ] {
        assert!(found(text).is_empty(), "{text}: {:?}", found(text));
    }
}
