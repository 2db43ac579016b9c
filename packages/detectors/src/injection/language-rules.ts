import { type PhraseRule, phraseRules } from './phrase-rule.js';

/** The core sentences in other languages; letters with marks stand for those without, too. */
const override = phraseRules('override', [
  // German
  [
    'ignore_earlier',
    0.8,
    'ignorier*|vergiss|vergesst|vergessen sie|missacht*|übergeh*|beachte nicht|beachten sie nicht|befolge nicht|verwirf|verwerfen sie|lass > vorherig*|vorig*|bisherig*|obig*|früher*|vorangegangen*|vorhergehend*|ursprünglich*|bestehend*|system* > anweisung*|instruktion*|regel*|richtlinie*|befehl*|vorgabe*|prompt*|auftr*|aufforderung*',
  ],
  [
    'ignore_given',
    0.75,
    'ignorier*|vergiss|missacht*|beachte nicht > anweisung*|instruktion*|regel*|richtlinie*|vorgabe* > oben|zuvor|bisher|von vorhin|vorher|von davor',
    16,
  ],
  [
    'no_longer_valid',
    0.5,
    'anweisung*|instruktion*|vorgabe*|richtlinie* > gelten nicht mehr|gilt nicht mehr|sind ungültig|sind hinfällig|ignoriere sie|vergiss sie',
    30,
  ],
  [
    'ignore_given',
    0.75,
    'игнорир*|проигнорир*|забуд*|не обращай внимания|не обращайте внимания|отбрось*|не следуй* > инструкц*|указани*|правил*|команд* > выше|ранее|раньше|до этого|прежде',
    16,
  ],
  [
    'ignore_own',
    0.6,
    'ignorier*|vergiss|missacht*|umgeh* > alle|deine|ihre|sämtliche > anweisung*|instruktion*|regel*|richtlinie*|vorgabe*|beschränkung*|systemprompt',
    14,
  ],
  [
    'forget_everything',
    0.75,
    'vergiss|vergessen sie|ignorier* > alles > bisher|oben|vorher|zuvor|davor|gesagt|stand',
    24,
  ],
  [
    'from_now_on',
    0.45,
    'ab jetzt|ab sofort|von nun an > bist du|sind sie|wirst du|antwort*|musst du|gehorch*',
    12,
  ],
  // French
  [
    'ignore_earlier',
    0.8,
    "ignor*|oubli*|ne tiens pas compte|ne tenez pas compte|ne tenez aucun compte|fais abstraction|faites abstraction|néglige*|ne suis plus|ne suivez plus|contourne* > instruction*|consigne*|règle*|directive*|ordre*|prompt* > précédent*|antérieur*|ci-dessus|initial*|préalable*|données auparavant|reçues|du système|d'avant",
  ],
  [
    'ignore_own',
    0.6,
    'ignor*|oubli*|contourne* > toutes|tes|vos|tout > instructions|consignes|règles|directives|restrictions',
    14,
  ],
  [
    'forget_everything',
    0.75,
    'oublie|oubliez|ignore|ignorez > tout > précède|avant|dit|ci-dessus|précédent',
    24,
  ],
  // Spanish
  [
    'ignore_earlier',
    0.8,
    'ignor*|olvid*|omite|omita|omitir|haz caso omiso|haga caso omiso|no sigas|no siga|descarta|descarte|pasa por alto|desobedec* > instruccion*|regla*|orden|ordenes|directric*|indicacion*|directiva*|prompt* > anterior*|previa*|previo*|de arriba|precedente*|inicial*|del sistema|recibida*|dada*',
  ],
  [
    'ignore_own',
    0.6,
    'ignora|ignore|olvida|olvide|olvídate > todas|tus|sus|cualquier > instrucciones|reglas|directrices|restricciones|órdenes',
    14,
  ],
  ['forget_everything', 0.75, 'olvida|olvide|ignora|ignore > todo > anterior|antes|arriba|dicho|previo', 24],
  // Italian
  [
    'ignore_earlier',
    0.8,
    'ignora*|dimentica*|non seguire|non segua|trascura*|scorda* > istruzion*|regol*|direttiv*|comand*|indicazion*|prompt* > precedent*|anterior*|sopra|di sopra|inizial*|del sistema|ricevut*|originali',
  ],
  [
    'ignore_own',
    0.6,
    'ignora|ignori|dimentica|dimentichi > tutte|tue|sue|qualsiasi > istruzioni|regole|direttive|restrizioni',
    14,
  ],
  [
    'forget_everything',
    0.75,
    'dimentica|dimentichi|ignora|ignori > tutto > prima|sopra|detto|precedenza|precedente',
    24,
  ],
  // Portuguese
  [
    'ignore_earlier',
    0.8,
    'ignor*|esquec*|desconsider*|não siga|descart*|desobedeç* > instruç*|regra*|ordens|diretriz*|comando*|orientaç*|prompt* > anterior*|prévia*|acima|precedente*|inicia*|do sistema|recebida*',
  ],
  [
    'ignore_own',
    0.6,
    'ignore|ignora|esqueça|esquece|desconsidere > todas|suas|tuas|quaisquer > instruções|regras|diretrizes|restrições',
    14,
  ],
  ['forget_everything', 0.75, 'esqueça|esquece|ignore > tudo > antes|acima|disse|anterior|dito', 24],
  // Russian
  [
    'ignore_earlier',
    0.8,
    'игнорир*|проигнорир*|забуд*|не обращай внимания|не обращайте внимания|отбрось*|не следуй*|отмени*|не выполняй* > предыдущ*|прежн*|выше*|ранее|прошл*|системн*|исходн*|изначальн*|данные тебе > инструкц*|указани*|правил*|команд*|промпт*|директив*|запрос*|сообщен*',
  ],
  [
    'ignore_own',
    0.6,
    'игнорируй*|забудь*|проигнорируй* > все|всё|свои|твои|любые > инструкции|указания|правила|ограничения|команды',
    14,
  ],
  ['forget_everything', 0.75, 'забудь*|игнорируй* > всё|все > до этого|выше|раньше|ранее|прежде|сказан*', 24],
  // Chinese, simplified and traditional
  [
    'ignore_earlier',
    0.8,
    '忽略|无视|無視|忘记|忘記|忽視|忽视|不要遵守|不要理会|不要理會|不理会|抛开|拋開|放弃|跳过|不要遵循 > 之前|先前|以上|上面|前面|此前|上述|原来|原本|最初|系统|系統|既有 > 指令|指示|提示|规则|規則|命令|说明|說明|要求|设定|設定|限制|内容|內容',
    10,
  ],
  [
    'ignore_own',
    0.6,
    '忽略|无视|無視|忘记|忘記|不要遵守|绕过|繞過 > 所有|全部|你的|任何|一切 > 指令|指示|规则|規則|限制|设定|設定|约束',
    10,
  ],
  // Japanese
  [
    'ignore_earlier',
    0.8,
    '以前|これまで|上記|前の|今まで|それまで|先ほど|既存|最初|システム|すべて|全て|元の > 指示|命令|指令|ルール|プロンプト|規則|制約|設定 > 無視|忘れ|従わ|破棄|取り消',
    12,
  ],
]);

const leak = phraseRules('prompt_leak', [
  // German
  [
    'ask_prompt',
    0.6,
    'zeig*|gib|geben sie|nenn*|verrat*|wiederhol*|druck*|offenbar*|schreib*|wie lautet|wie lauten|was ist|übersetz* > systemprompt*|system-prompt*|system prompt|systemanweisung*|systemnachricht*|geheimen anweisung*|ursprünglichen anweisung*|internen anweisung*|deine anweisungen|versteckten anweisung*',
  ],
  // French
  [
    'ask_prompt',
    0.6,
    'montre*|affiche*|révèle*|répète*|donne*|dis-moi|écris|imprime*|quel est|quelles sont|divulgue* > prompt système|prompt du système|invite système|instructions système|instructions du système|message système|instructions cachées|instructions initiales|instructions secrètes|tes instructions|vos instructions',
  ],
  // Spanish
  [
    'ask_prompt',
    0.6,
    'muestra*|muéstrame|revela*|dime|imprime|repite|escribe|enseña*|cuál es|cuáles son|divulga* > prompt del sistema|prompt de sistema|instrucciones del sistema|mensaje del sistema|instrucciones ocultas|instrucciones iniciales|instrucciones secretas|tus instrucciones|sus instrucciones internas',
  ],
  // Italian
  [
    'ask_prompt',
    0.6,
    'mostra*|rivela*|dimmi|stampa|ripeti|scrivi|qual è|quali sono|divulga* > prompt di sistema|prompt del sistema|istruzioni di sistema|istruzioni del sistema|messaggio di sistema|istruzioni nascoste|istruzioni iniziali|istruzioni segrete|tue istruzioni',
  ],
  // Portuguese
  [
    'ask_prompt',
    0.6,
    'mostre*|mostra|revele*|revela|diga|imprima|repita|escreva|qual é|quais são|divulgue > prompt do sistema|prompt de sistema|instruções do sistema|mensagem do sistema|instruções ocultas|instruções iniciais|instruções secretas|suas instruções',
  ],
  // Russian
  [
    'ask_prompt',
    0.6,
    'покажи*|выведи*|раскрой*|повтори*|напиши*|скажи*|какой|каков|каковы|перечисли* > системный промпт|системный запрос|системные инструкции|системное сообщение|системного промпта|скрытые инструкции|свои инструкции|твои инструкции|исходные инструкции|начальные инструкции',
  ],
  // Chinese
  [
    'ask_prompt',
    0.6,
    '显示|顯示|输出|輸出|告诉|告訴|透露|打印|重复|重複|泄露|洩露|说出|說出|展示|复述|列出 > 系统提示|系統提示|系统指令|系統指令|提示词|提示詞|初始指令|隐藏指令|隱藏指令|内部指令|系统消息',
    14,
  ],
  // Japanese
  [
    'ask_prompt',
    0.6,
    'システムプロンプト|システム指示|システムメッセージ|初期指示|内部指示|隠された指示|最初の指示 > 表示|教えて|出力|見せて|開示|公開|書い|明かし|繰り返し|示して',
    14,
  ],
]);

/** Rules in German, French, Spanish, Italian, Portuguese, Russian, Chinese and Japanese. */
export const languageRules: readonly PhraseRule[] = [...override, ...leak];
