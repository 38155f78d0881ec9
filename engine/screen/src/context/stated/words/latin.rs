//! Languages of the Latin and the Greek script, English first.

use super::Language;
use super::Sort::{Codes, Key, Lock, NetworkKey, Opens, Password, Phrase, Pin, Seed, Setting, Wifi};

pub(super) const LANGUAGES: [Language; 16] = [
    Language {
        nouns: &[
            (
                Password,
                &[
                    "password",
                    "passwords",
                    "pasword",
                    "passwrod",
                    "passwd",
                    "pwd",
                    "pw",
                    "passcode",
                    "psk",
                    "root-pw",
                    "pass",
                ],
            ),
            (Phrase, &["passphrase", "pass phrase", "unlock phrase", "vault phrase", "master password"]),
            (Wifi, &["wifi", "wi-fi", "wireless", "wlan"]),
            (
                Pin,
                &[
                    "pin",
                    "puk",
                    "pin code",
                    "door code",
                    "gate code",
                    "entry code",
                    "alarm code",
                    "lock code",
                    "keypad code",
                    "access code",
                    "garage code",
                    "disarm code",
                    "safe code",
                    "voicemail code",
                    "sim pin",
                    "combo",
                    "lock combo",
                    "combination",
                ],
            ),
            (Lock, &["safe", "padlock", "key box", "lockbox", "key safe", "keypad", "front gate", "alarm"]),
            (Opens, &["disarm", "phone unlock", "unlocks with", "opens with", "unlock code"]),
            (
                Codes,
                &[
                    "backup codes",
                    "recovery codes",
                    "recovery code",
                    "backup code",
                    "restore key",
                    "recovery key",
                    "emergency codes",
                ],
            ),
            (
                Seed,
                &[
                    "metamask recovery",
                    "wallet phrase",
                    "wallet recovery",
                    "twelve words",
                    "12 words",
                    "24 words",
                    "seed",
                    "seed phrase",
                    "seed words",
                    "mnemonic",
                    "recovery phrase",
                    "recovery words",
                    "wallet words",
                    "ledger words",
                ],
            ),
            (Key, &["api key", "api-key", "x-api-key", "api token", "license key", "licence key", "access key", "key"]),
            (NetworkKey, &["key", "pass", "code"]),
            (Setting, &["secret", "token"]),
        ],
        binders: "is was are be it's its equals reads",
        is_bare: false,
        others: "a an the not no never on in at under with by from for of to as and or but if when where who whose what which \
            that this these those it its he she they we you i my our your their has have had will would can could should must \
            may might do does did be been being stored kept required optional mandatory needed used set unset changed reset \
            rotated expired expiring wrong right correct incorrect invalid valid missing empty blank null none unknown known \
            different same identical secure insecure safe unsafe strong weak long short longer shorter too very so really \
            always also only just still already again now then there here hashed encrypted salted saved cached shared sent \
            written printed generated random case-sensitive sensitive asked checked compared validated verified rejected \
            accepted disabled enabled protected hidden visible masked truncated logged leaked compromised old new good bad hard easy \
            fine ok okay please see ask use enter type typed read reads lives managed available undefined string str text \
            bool boolean int integer number varchar char secret private public password passwords token tokens key keys hash asked \
            at least minimum maximum max min up via per since until before after between every each all any some more most \
            less both either neither than like due about over out off prompt prompts field string, one two three four five \
            good-to-go confidential temporary per-user unique mismatch mismatched deprecated case rate-limited required, \
            given minlength maxlength true false yes leave unchanged keep bitwarden 1password keepass lastpass dashlane keychain vault",
    },
    Language {
        nouns: &[
            (Password, &["passwort*", "kennwort*", "zugangswort", "zugangscode"]),
            (Phrase, &["passphrase", "passwortsatz", "merksatz"]),
            (
                Pin,
                &[
                    "geheimzahl",
                    "türcode",
                    "torcode",
                    "haustürcode",
                    "alarmcode",
                    "tresorcode",
                    "schlosscode",
                    "pin-nummer",
                ],
            ),
            (Lock, &["schlüsselbox", "schlüsseltresor", "schlüsselkasten", "zahlenschloss", "tresor"]),
            (
                Codes,
                &[
                    "wiederherstellungscodes",
                    "wiederherstellungscode",
                    "backup-codes",
                    "notfallcodes",
                    "wiederherstellungsschlüssel",
                ],
            ),
            (Seed, &["seed-phrase", "wiederherstellungswörter", "seedwörter"]),
            (Key, &["api-schlüssel", "lizenzschlüssel", "api-key"]),
            (NetworkKey, &["schlüssel", "netzwerkschlüssel"]),
        ],
        binders: "ist lautet heißt heisst war sind auf",
        is_bare: false,
        others: "der die das den dem des ein eine einen einem einer kein keine nicht nie im in am an auf unter mit von vom zu zum \
            zur für bei aus nach seit und oder aber wenn wo wer was wie dass es er sie wir ihr ich mein dein sein hat haben \
            wird werden wurde muss müssen soll sollte kann darf gespeichert abgelaufen falsch richtig ungültig leer sicher \
            unsicher minimal stark schwach lang kurz zu sehr nur noch schon immer jetzt neu alt gleich verschlüsselt gehasht vergessen \
            geändert erforderlich optional bitte siehe mindestens höchstens bekannt unbekannt hier dort",
    },
    Language {
        nouns: &[
            (Password, &["mot de passe", "mots de passe", "mdp", "code wifi", "clé wifi"]),
            (Phrase, &["phrase secrète", "phrase de passe"]),
            (
                Pin,
                &[
                    "pin",
                    "code pin",
                    "code porte",
                    "code du portail",
                    "code de la porte",
                    "digicode",
                    "code d'alarme",
                    "code de l'alarme",
                    "code du coffre",
                ],
            ),
            (Lock, &["boîte à clés", "coffre", "cadenas"]),
            (Opens, &["alarme sonne", "déverrouille avec"]),
            (Codes, &["codes de secours", "codes de récupération", "code de récupération", "clé de récupération"]),
            (Seed, &["phrase de récupération", "mots de récupération", "phrase mnémonique"]),
            (Key, &["clé api", "clé d'api", "clef api"]),
            (NetworkKey, &["clé", "clef"]),
        ],
        binders: "est c'est c’est c c: était sera devient",
        is_bare: false,
        others: "le la les l' un une des du de d' ne pas dans en sur sous avec par pour sans chez à au aux et ou mais si quand où \
            qui que quoi ce cette il elle on nous vous ils je mon ton son notre a ont sera doit doivent peut faut stocké \
            expiré faux incorrect invalide vide obligatoire requis oublié changé trop très plus moins au voir demander même \
            toujours jamais déjà encore maintenant chiffré haché celui minimum envoyé",
    },
    Language {
        nouns: &[
            (Password, &["contraseña", "contraseñas", "contrasena", "clave de acceso", "clave del wifi"]),
            (Phrase, &["frase de contraseña", "frase secreta", "frase de la bóveda", "frase de paso"]),
            (
                Pin,
                &[
                    "pin",
                    "código pin",
                    "código de la puerta",
                    "código del portal",
                    "código de la alarma",
                    "código de acceso",
                    "clave de la alarma",
                ],
            ),
            (Lock, &["caja de llaves", "caja fuerte", "candado"]),
            (Codes, &["códigos de recuperación", "código de recuperación", "códigos de respaldo"]),
            (Seed, &["frase semilla", "palabras semilla", "frase de recuperación", "palabras de recuperación"]),
            (Key, &["clave api", "clave de api", "clave de la api", "llave api", "clave"]),
            (NetworkKey, &["llave"]),
        ],
        binders: "es son era será sería",
        is_bare: false,
        others: "el la los las un una unos de del no en con por para sin a al y o u pero si cuando donde quien que qué lo su mi tu \
            nuestra está están estaba debe deben puede hay tiene obligatoria obligatorio incorrecta incorrecto inválida \
            caducada vacía segura débil fuerte larga corta muy más menos la misma siempre nunca ya ahora ver foránea primaria \
            guardada cifrada única necesaria demasiado mínimo mínima enviada enviado",
    },
    Language {
        nouns: &[
            (Password, &["senha", "senhas", "palavra-passe", "palavra passe", "palavra-chave do wifi"]),
            (Phrase, &["frase-senha", "frase secreta", "frase-passe", "frase do cofre"]),
            (Pin, &["pin", "código do portão", "código da porta", "código pin", "código do alarme", "código do cofre"]),
            (Lock, &["caixa de chaves", "cadeado"]),
            (Codes, &["códigos de recuperação", "códigos de backup", "código de recuperação"]),
            (Seed, &["frase semente", "palavras semente", "frase de recuperação"]),
            (Key, &["chave api", "chave da api", "chave de api"]),
        ],
        binders: "é são era será agora é",
        is_bare: false,
        others: "o a os as um uma de do da dos das não em no na nos nas com por para sem e ou mas se quando onde quem que ele ela \
            meu sua está estão deve devem precisa pode tem obrigatória incorreta inválida vazia segura fraca forte longa curta \
            muito mais menos mesma sempre nunca já agora ver expirada guardada estrangeira primária renovado única mínimo mínima enviada enviado",
    },
    Language {
        nouns: &[
            (Password, &["parola d'ordine", "password"]),
            (Phrase, &["frase segreta", "frase d'accesso", "passphrase"]),
            (
                Pin,
                &[
                    "pin",
                    "codice del cancello",
                    "codice pin",
                    "codice della porta",
                    "codice dell'allarme",
                    "codice allarme",
                    "codice di sblocco",
                ],
            ),
            (Lock, &["cassaforte", "cassetta delle chiavi", "lucchetto"]),
            (Codes, &["codici di recupero", "codice di recupero", "codici di backup"]),
            (Seed, &["frase seme", "parole seme", "frase di recupero", "parole di recupero"]),
            (Key, &["chiave api", "chiave delle api"]),
        ],
        binders: "è e' era sono sarà",
        is_bare: false,
        others: "il lo la i gli le un uno una di del dello della dei delle non nel nella in su sul con per senza a al alla e o ma se \
            quando dove chi che suo mia nostra deve devono può ha hanno obbligatoria errata sbagliata scaduta vuota sicura \
            debole forte lunga corta molto più meno stessa sempre mai già ora vedi salvata cifrata primaria esterna troppo minimo minima inviata",
    },
    Language {
        nouns: &[
            (Password, &["wachtwoord*", "wifi-wachtwoord"]),
            (Phrase, &["wachtzin", "wachtwoordzin"]),
            (Pin, &["pincode", "toegangscode", "poortcode", "deurcode", "alarmcode", "cijfercode"]),
            (Lock, &["sleutelkastje", "sleutelkluis", "kluis", "cijferslot"]),
            (Codes, &["herstelcodes", "herstelcode", "back-upcodes", "herstelsleutel"]),
            (Seed, &["herstelwoorden", "herstelzin", "seedwoorden"]),
            (Key, &["api-sleutel", "licentiesleutel"]),
            (NetworkKey, &["sleutel"]),
        ],
        binders: "is was zijn luidt",
        is_bare: false,
        others: "de het een geen niet in op onder met van voor bij uit naar sinds en of maar als waar wie wat dat er hij zij we ik \
            mijn jouw zijn heeft hebben wordt werd moet moeten kan mag verplicht verlopen onjuist fout ongeldig leeg veilig \
            zwak sterk lang kort te zeer heel alleen nog al altijd nooit nu nieuw oud hetzelfde opgeslagen versleuteld minstens minimaal verstuurd",
    },
    Language {
        nouns: &[
            (Password, &["hasło", "hasła", "hasłem", "hasle"]),
            (Phrase, &["fraza", "fraza do sejfu", "hasło-fraza"]),
            (
                Pin,
                &[
                    "kod pin",
                    "pin do",
                    "kod do bramy",
                    "kod do drzwi",
                    "kod do furtki",
                    "kod alarmu",
                    "kod do sejfu",
                    "kod do domofonu",
                ],
            ),
            (Lock, &["furtka", "skrzynka na klucze", "sejf", "kłódka", "domofon"]),
            (Codes, &["kody odzyskiwania", "kody zapasowe", "kod odzyskiwania"]),
            (Seed, &["słowa seed", "fraza odzyskiwania", "słowa odzyskiwania"]),
            (Key, &["klucz api", "klucz do api"]),
            (NetworkKey, &["klucz"]),
        ],
        binders: "to jest brzmi było",
        is_bare: false,
        others: "nie w we na z ze do od po pod przy dla bez i lub albo ale jeśli gdy gdzie kto co że ten ta to on ona my ja mój nasz ma \
            mają musi muszą może trzeba wymagane błędne niepoprawne puste bezpieczne słabe silne długie krótkie za bardzo \
            tylko jeszcze już zawsze nigdy teraz nowe stare takie wygasło przewodnie główny ustawione zapisane co",
    },
    Language {
        nouns: &[
            (Password, &["heslo", "hesla", "heslem"]),
            (Phrase, &["heslová fráze", "fráze k trezoru", "přístupová fráze"]),
            (Pin, &["kód ke dveřím", "kód k bráně", "kód alarmu", "pin kód", "kód od branky"]),
            (Lock, &["schránka na klíče", "trezor", "zámek"]),
            (Opens, &["odemkneš", "odemyká"]),
            (Codes, &["záložní kódy", "obnovovací kódy"]),
            (Seed, &["seed slova", "obnovovací fráze"]),
            (Key, &["api klíč", "klíč k api"]),
            (NetworkKey, &["klíč"]),
        ],
        binders: "je zní bylo",
        is_bare: false,
        others: "ne není v ve na z ze do od po pod pro bez a nebo ale když kde kdo co že ten ta to on ona my já můj náš má musí může \
            povinné špatné neplatné prázdné bezpečné slabé silné dlouhé krátké moc velmi jen ještě už vždy nikdy teď nové \
            staré stejné dne uloženo alespoň primární",
    },
    Language {
        nouns: &[
            (Password, &["lösenord*"]),
            (Phrase, &["lösenfras*", "lösenordsfras"]),
            (Pin, &["portkod*", "pinkod*", "pin-kod", "larmkod*", "dörrkod*", "kod till dörren", "kod till porten"]),
            (Lock, &["nyckelskåp*", "kassaskåp*", "nyckelbox*"]),
            (Codes, &["återställningskoder", "reservkoder"]),
            (Seed, &["återställningsord", "återställningsfras"]),
            (Key, &["api-nyckel*"]),
            (NetworkKey, &["nyckel*"]),
        ],
        binders: "är heter var lyder",
        is_bare: false,
        others: "en ett den det de inte i på under med av från för till hos ur sedan och eller men om när där vem vad att han hon vi jag \
            min din har måste ska kan får krävs felaktigt ogiltigt tomt säkert svagt starkt långt kort för mycket bara än \
            redan alltid aldrig nu nytt gammalt samma sparat krypterat minst glömt",
    },
    Language {
        nouns: &[
            (
                Password,
                &["adgangskode*", "kodeord*", "koden til serveren", "koden til wifi", "root-adgangskode*", "passord*"],
            ),
            (Phrase, &["adgangssætning*", "kodesætning*"]),
            (Pin, &["pinkode*", "dørkode*", "portkode*", "alarmkode*", "koden til døren", "koden til alarmen"]),
            (Lock, &["nøgleboks*", "pengeskab*", "kodelås*"]),
            (Codes, &["gendannelseskoder", "backupkoder"]),
            (Seed, &["gendannelsesord", "seed-ord"]),
            (Key, &["api-nøgle*"]),
            (NetworkKey, &["nøgle*", "kode*"]),
        ],
        binders: "er hedder var lyder",
        is_bare: false,
        others: "en et den det de ikke i på under med af fra for til hos ud siden og eller men hvis når hvor hvem hvad at han hun vi jeg \
            min din har skal kan må kræves forkert ugyldig tom sikker svag stærk lang kort meget kun endnu allerede altid \
            aldrig nu ny gammel samme gemt krypteret mindst glemt",
    },
    Language {
        nouns: &[
            (Password, &["salasana*"]),
            (Phrase, &["salalause*", "tunnuslause*"]),
            (Pin, &["pin-koodi*", "ovikoodi*", "porttikoodi*", "hälytyskoodi*"]),
            (Lock, &["avainlaatikko*", "kassakaappi*", "avainsäilö*"]),
            (Codes, &["palautuskoodit", "varakoodit"]),
            (Seed, &["palautussanat", "palautuslause"]),
            (Key, &["api-avain*"]),
            (NetworkKey, &["avain*"]),
        ],
        binders: "on oli",
        is_bare: false,
        others: "ei ole ja tai mutta jos kun missä kuka mikä että se hän me minä pitää täytyy voi saa pakollinen väärä virheellinen \
            tyhjä turvallinen heikko vahva pitkä lyhyt liian hyvin vain vielä jo aina koskaan nyt uusi vanha sama tallennettu \
            salattu vähintään vanhentunut unohtunut",
    },
    Language {
        nouns: &[
            (Password, &["jelszó", "jelszava", "jelszavam", "jelszavunk", "jelszavát"]),
            (Phrase, &["jelmondat*", "jelmondata"]),
            (Pin, &["kapukód*", "pinkód*", "pin-kód*", "ajtókód*", "riasztókód*"]),
            (Lock, &["kulcstartó*", "kulcsszéf*", "széf"]),
            (Codes, &["helyreállító kódok", "tartalék kódok"]),
            (Seed, &["helyreállító szavak"]),
            (Key, &["api-kulcs*", "api kulcs*"]),
            (NetworkKey, &["kulcs*"]),
        ],
        binders: "volt",
        is_bare: true,
        others: "a az egy nem sem és vagy de ha amikor hol ki mi hogy ez ő mi én kell kötelező hibás érvénytelen üres biztonságos gyenge \
            erős hosszú rövid túl nagyon csak még már mindig soha most új régi ugyanaz legalább lejárt kiszolgáló esetén van \
            volt lesz titkosítva elfelejtett",
    },
    Language {
        nouns: &[
            (Password, &["parola", "parolă", "parole"]),
            (Phrase, &["fraza pentru seif", "fraza de acces", "fraza secretă"]),
            (
                Pin,
                &[
                    "codul de la interfon",
                    "codul pin",
                    "codul de la poartă",
                    "codul de la ușă",
                    "codul alarmei",
                    "cod pin",
                ],
            ),
            (Lock, &["cutia de chei", "lacăt", "seif"]),
            (Codes, &["coduri de recuperare", "codurile de rezervă"]),
            (Seed, &["cuvinte de recuperare", "fraza de recuperare"]),
            (Key, &["cheia api", "cheie api"]),
        ],
        binders: "este e era",
        is_bare: false,
        others: "un o al a ale nu în la pe sub cu de din pentru fără și sau dar dacă când unde cine ce că el ea noi eu mea sa are au \
            trebuie poate obligatorie greșită incorectă invalidă goală sigură slabă puternică lungă scurtă prea foarte doar \
            încă deja mereu niciodată acum nouă veche aceeași expirată salvată primară cel",
    },
    Language {
        nouns: &[
            (Password, &["κωδικός", "κωδικό", "κωδικού", "συνθηματικό", "Κωδικός"]),
            (Phrase, &["φράση πρόσβασης", "Φράση πρόσβασης", "μυστική φράση"]),
            (Pin, &["κωδικός πόρτας", "κωδικός συναγερμού", "κωδικός pin"]),
            (Lock, &["κλειδοθήκη", "Κλειδοθήκη", "χρηματοκιβώτιο"]),
            (Codes, &["κωδικοί ανάκτησης", "Κωδικοί ανάκτησης"]),
            (Seed, &["λέξεις ανάκτησης", "φράση ανάκτησης"]),
            (Key, &["κλειδί api", "Κλειδί api"]),
        ],
        binders: "είναι ήταν",
        is_bare: false,
        others: "ο η το οι τα του της των ένα μια δεν μη στο στη στην στον σε με από για χωρίς και ή αλλά αν όταν πού ποιος τι ότι που \
            εγώ μου σου έχει πρέπει μπορεί υποχρεωτικός λάθος άκυρος κενός ασφαλής αδύναμος ισχυρός μεγάλος μικρός πολύ μόνο \
            ακόμα ήδη πάντα ποτέ τώρα νέος παλιός ίδιος τουλάχιστον",
    },
    Language {
        nouns: &[
            (Password, &["şifre", "şifresi", "şifremiz", "şifrem", "parola", "parolası", "parolamız"]),
            (Phrase, &["parola cümlesi", "şifre cümlesi"]),
            (Pin, &["pin kodu", "kapı kodu", "alarm kodu", "kapı şifresi", "kasa şifresi"]),
            (Lock, &["anahtar kutusu", "kasa", "asma kilit"]),
            (Codes, &["kurtarma kodları", "yedek kodlar"]),
            (Seed, &["kurtarma kelimeleri", "kurtarma cümlesi"]),
            (Key, &["api anahtarı"]),
            (NetworkKey, &["anahtar"]),
        ],
        binders: "ise olarak",
        is_bare: true,
        others: "bir değil ve veya ama eğer nerede kim ne en az çok gerekli zorunlu yanlış geçersiz boş güvenli zayıf güçlü uzun kısa \
            sadece hala artık hep asla şimdi yeni eski aynı o bu şu olmalı alanı politikası sıfırlama kasada",
    },
];
