import { type PhraseRule, phraseRules } from './phrase-rule.js';

const IGNORE =
  'ignore|ignores|ignoring|1gnore|ign0re|1gn0re|disregard|disregards|disregarding|forget|override|overrides|overriding|' +
  "bypass|discard|neglect|abandon|nullify|erase|do not follow|don't follow|dont follow|stop following|do not obey|" +
  'no longer follow|no longer obey|pay no attention to|set aside|throw away|throw out|cancel all|' +
  'not bound by|no longer bound by|free from|unlearn|drop all|wipe';
const EARLIER =
  'previous|previously|prev|prior|above|earlier|preceding|foregoing|original|initial|former|existing|system|developer|' +
  'pre-existing|past|already given|hidden|safety';
const INSTRUCTIONS =
  'instruction|instructions|instruct1ons|prompt|prompts|rules|guideline|guidelines|directive|directives|directions|' +
  'commands|orders|constraint|constraints|restrictions|programming|policies|policy|safeguards|guardrails|guidance|' +
  'context|messages|tasks|conditioning';
const OWN_RULES =
  'instruction|instructions|guideline|guidelines|rules|programming|training|safeguards|guardrails|directives|' +
  'restrictions|constraints|system prompt|system message|safety protocols|content policy|ethics';

const override = phraseRules('override', [
  ['ignore_earlier', 0.8, `${IGNORE} > ${EARLIER} > ${INSTRUCTIONS}`],
  ['ignore_own', 0.55, `${IGNORE} > your|all|any|every|these|those|the > ${OWN_RULES}`, 18],
  [
    'ignore_given',
    0.75,
    `${IGNORE} > ${INSTRUCTIONS} > above|before this|you were given|you have been given|you received|so far|given to you|given earlier|up to now|until now|prior to this|that came before|you have received|you got`,
    18,
  ],
  [
    'forget_everything',
    0.75,
    "forget|ignore|disregard|erase|wipe > everything|all|anything|whatever > above|before|previous|previously|you were told|you know|i said|so far|prior|until now|you have been told|you've been told|you learned|you have learned|were told|came before|up to this point",
    20,
  ],
  [
    'ignore_told',
    0.6,
    `${IGNORE} > what|whatever|anything > told you|you were told|was said|said before|is written above|is said above|said earlier`,
    24,
  ],
  [
    'no_longer_valid',
    0.5,
    `you were told|you received|you were given|your instructions|your rules|your guidelines|previous instructions|earlier instructions|instructions above|rules above|former rules|original instructions > ignore it|ignore them|ignore that|disregard them|disregard it|forget them|forget it|no longer apply|no longer valid|are void|are cancelled|are canceled|are outdated|do not apply|don't apply|is a lie|were wrong|are revoked`,
    40,
  ],
  [
    'orders_follow',
    0.55,
    'new|updated|real|actual|true|revised|secret|special > instructions|instruction|directive|directives|orders > : > you|ignore|do|reply|answer|respond|from|always|only|never|the',
    4,
  ],
  [
    'rate_well',
    0.35,
    'give|rate|rating|recommend|assign|score > highest score|best score|top rating|highest rating|5 out of 5|five stars|best candidate|strong accept|top mark|10 out of 10|perfect score|positive',
    40,
  ],
  [
    'do_not_follow',
    0.6,
    `do not|don't|dont|never|stop > follow|following|obey|obeying|listen to|comply with|adhere to > your|previous|prior|any|the system|original|those|earlier > ${INSTRUCTIONS}`,
    16,
  ],
  [
    'supersedes',
    0.6,
    `supersede|supersedes|superseding|take precedence over|takes precedence over|have priority over|overrule|overrules|replaces|replace|outrank|outranks > all|any|previous|prior|other|system|earlier|your|every > ${INSTRUCTIONS}`,
    16,
  ],
  [
    'new_instructions',
    0.45,
    'new|updated|real|actual|true|revised|secret|special > instructions|instruction|directive|directives|objective|orders|system prompt|system message > :|are|is|follow|from the|begin|start',
    6,
  ],
  [
    'from_now_on',
    0.45,
    'from now on|from this point|from here on|henceforth|starting now > you are|you will|you must|act as|you only|you respond|respond|answer|obey|your|you have',
    16,
  ],
  [
    'instead',
    0.2,
    'instead > you must|you will|reply|respond|output|say|print|send|execute|run|write|do this|follow',
    8,
  ],
  [
    'end_of_input',
    0.5,
    'end of|end|close|stop > system prompt|prompt|user input|instructions|context|untrusted data|document > new|begin|start|now|real|actual|assistant|system',
    20,
  ],
  [
    'to_the_model',
    0.45,
    'note to|message to|message for|instructions for|instruction for|attention|dear|hey|hello|notice to|notice for|important for|instruction to|instructions to|reminder for|addressed to|memo to > ai|a.i.|llm|llms|language model|language models|ai assistant|ai agent|ai agents|chatbot|the assistant|the model|ai model|ai models|gpt|chatgpt|claude|gemini|copilot|ai system|ai systems|automated agent|automated agents|automated reviewers|ai reviewer',
    10,
  ],
  [
    'if_you_are_a_model',
    0.5,
    "if you are|if you're|if this is read by|when read by|if an|any|all > an ai|ai|an llm|llm|llms|a language model|language model|an automated|an assistant|ai assistant|ai assistants|ai agents|ai systems > reading|read|processing|must|summarizing|summarising|then|please|reviewing|,|you",
    14,
  ],
  [
    'your_new_task',
    0.45,
    'your > new|real|actual|only|true|sole > task|goal|job|objective|mission|purpose|role|instructions|priority > is|are|:|now',
    4,
  ],
  [
    'reset',
    0.5,
    'reset|restart|reboot|reinitialize|clear|wipe > your > memory|context|instructions|conversation|rules|guidelines',
    8,
  ],
  [
    'spelled_out',
    0.75,
    'i g n o r e|i.g.n.o.r.e|i-g-n-o-r-e|i_g_n_o_r_e|d i s r e g a r d|d-i-s-r-e-g-a-r-d|f o r g e t > p r e v|p-r-e-v|p.r.e.v|a l l|a-l-l|i n s t r|i-n-s-t-r|previous|all|instructions',
    8,
  ],
]);

const FREE =
  'dan|jailbroken|unrestricted|unfiltered|uncensored|unaligned|evil|no restrictions|without restrictions|' +
  'without any restrictions|no limits|no limitations|without limitations|developer mode|free from|no longer bound|' +
  'not bound|amoral|no rules|without rules|without any rules|no guidelines|no filters|without filters|no ethical|' +
  'no moral|can do anything|root access|no safety|without safety|never refuses|never refuse';
const MODES =
  'dan mode|god mode|jailbreak mode|unrestricted mode|override mode|unfiltered mode|unsafe mode|do anything now|evil mode|' +
  'no-filter mode';
/** Modes that software has, too. */
const SOFTWARE_MODES = 'developer mode|dev mode|debug mode|maintenance mode|admin mode|sudo mode|test mode';

const jailbreak = phraseRules('jailbreak', [
  [
    'free_role',
    0.7,
    `you are now|you are|act as|acting as|act like|pretend|pretend to be|roleplay as|role-play as|role play as|imagine you|simulate|behave as|behave like|become|play the role|as an ai|as a model|as an assistant|like an ai > ${FREE}`,
    60,
  ],
  [
    'mode',
    0.6,
    `enter|enable|activate|switch to|switch into|turn on|start|you are in|you are now in|initiate|unlock > ${MODES}`,
    16,
  ],
  ['mode_on', 0.6, `${MODES} > enabled|activated|active|engaged|is on|: on|unlocked|confirmed`, 6],
  ['anything_now', 0.6, 'do anything now|dan prompt|stay a dan|as dan'],
  [
    'no_safety',
    0.5,
    'disable|turn off|remove|bypass|ignore|without|drop|switch off|suspend|deactivate|lift|circumvent > ethical|ethics|moral|content|safety|openai|anthropic|moderation|alignment > policy|policies|guideline|guidelines|filter|filters|restrictions|constraints|guardrails|rules|protocols|checks|training|settings',
    16,
  ],
  [
    'must_comply',
    0.35,
    'you must comply|you will comply|must obey|you have to obey|comply with every|obey every|obey all',
  ],
  [
    'no_refusal',
    0.35,
    'never refuse|never refuses|cannot refuse|can not refuse|do not refuse|must not refuse|refusal is not',
  ],
  [
    'no_disclaimers',
    0.35,
    'no disclaimers|without disclaimers|without any disclaimers|without any warnings|no warnings',
  ],
  ['in_character', 0.3, 'stay in character|remain in character|never break character'],
  [
    'software_mode',
    0.35,
    `enter|enable|activate|switch to|switch into|turn on|you are in|you are now in|initiate|unlock > ${SOFTWARE_MODES}`,
    16,
  ],
  [
    'software_mode_and_answers',
    0.6,
    `${SOFTWARE_MODES} > answer|answers|respond|filters|filter|restrictions|you are|you can|moderation|censorship|confirm with|lift`,
    40,
  ],
]);

const SYSTEM_PROMPT =
  'system prompt|systemprompt|system message|system instructions|system instruction|initial prompt|initial instructions|' +
  'hidden instructions|hidden prompt|hidden rules|original instructions|original prompt|secret instructions|' +
  'secret prompt|developer message|developer instructions|developer prompt|pre-prompt|preprompt|internal instructions|' +
  'internal rules|confidential instructions|custom instructions|exact instructions|full prompt|starting prompt|' +
  'base prompt|your prompt|your instructions|your guidelines|your rules|prompt text|underlying prompt|' +
  'configuration prompt|your configuration|your initial|instructions you were given|instructions you received';

const promptLeak = phraseRules('prompt_leak', [
  [
    'ask_prompt',
    0.6,
    `reveal|reveals|show|print|output|repeat|display|disclose|leak|dump|give me|tell me|share|recite|write out|write down|reproduce|expose|return|summarize|summarise|translate|encode|copy|paste|echo|spell out|list|read out|send me|email me|quote|state|start your answer with|begin your answer with|first sentence of|first words of|first line of|content of|contents of|text of|what is|what's|what are|what was|what were|what does > ${SYSTEM_PROMPT}`,
    24,
  ],
  [
    'verbatim',
    0.45,
    `${SYSTEM_PROMPT} > verbatim|word for word|word-for-word|exactly|in full|in its entirety|character by character|in a code block|as json|in base64|unchanged|letter by letter`,
    30,
  ],
  [
    'repeat_above',
    0.65,
    'repeat|print|output|copy|recite|echo|write|display|reproduce|show > everything above|all the text above|the text above|text above|the words above|words above|all of the above|everything before|the above text|everything that came before|what was written above|content above|conversation above|all text before|lines above|sentences above|above this line',
    16,
  ],
]);

const VALUABLES =
  'password|passwords|credential|credentials|api key|api keys|access key|access keys|token|tokens|secret|secrets|' +
  'private key|private keys|ssh key|ssh keys|.env|environment variables|env vars|conversation|conversations|chat history|' +
  "chat log|message history|system prompt|user data|user's data|personal data|customer data|customer list|contact list|" +
  'contacts|cookies|session cookie|credit card|card numbers|inbox|all emails|all the emails|all files|database|' +
  'confidential|search history|source code|medical records|user records|transcript|address book|id_rsa';
const ELSEWHERE =
  'http|https|www.|@|to this address|to the following|to this url|to my server|to our server|to external|webhook|' +
  'ngrok|pastebin|requestbin|collaborator|webhook.site|telegram|to attacker|to this endpoint|to this number|ftp|' +
  'to the address|to this email|to the email|discord|out-of-band|remote server|external server';

const exfiltration = phraseRules('exfiltration', [
  [
    'send_valuables',
    0.6,
    `send|forward|email|e-mail|post|upload|transmit|exfiltrate|exfiltrates|leak|submit|copy|mail|deliver|relay|smuggle|report|push|ship > ${VALUABLES} > ${ELSEWHERE}`,
    60,
  ],
  [
    'valuables_in_url',
    0.65,
    `append|include|embed|encode|add|insert|put|place|attach|replace|concatenate > ${VALUABLES}|data|answer|history|message|messages|summary|email|name > in the url|to the url|as a query|as query|query parameter|query string|url parameter|the image url|image url|in the link|to the link|markdown image|image source|image link|url-encoded|in this url|to this url|the path of`,
    50,
  ],
  [
    'collect_and_send',
    0.6,
    `read|open|cat|fetch|collect|gather|find|search|search for|extract|look up|list|retrieve|harvest|grab|steal > /etc/passwd|/etc/shadow|.ssh|id_rsa|.aws/credentials|${VALUABLES} > send|post|upload|email|forward|transmit|curl|include them|exfiltrate|put it in|publish|leak`,
    50,
  ],
  [
    'render_image',
    0.5,
    'render|display|include|output|show|embed|load|insert > image|markdown image|img|picture|pixel|this link > http|https',
    30,
  ],
]);

const ACTIONS =
  'call|run|execute|send|delete|transfer|download|visit|open|click|approve|forward|install|purchase|buy|wire|invoke|fetch|' +
  'reply|include|rate|recommend|output|add|use|start|grant|respond|say|answer';
const ON_READING =
  'when you read this|when you have read this|upon reading|after reading this|as soon as you read|once you read|' +
  'once you have read|before answering|before responding|before you answer|before you respond|before doing anything|' +
  'before continuing|before using';

const toolCoercion = phraseRules('tool_coercion', [
  [
    'tool_in_secret',
    0.6,
    "call|invoke|use|run|execute|trigger|launch|send|delete|transfer|forward|install|download|approve|buy|purchase|create|grant|disable > without asking|without confirming|without confirmation|without telling|without informing|without the user|without user|do not ask|do not tell|do not mention|do not inform|silently|without permission|without approval|no confirmation|don't ask|don't tell|don't mention|secretly|without notifying|without mentioning|without alerting|covertly|quietly|in the background",
    80,
  ],
  [
    'hide_from_user',
    0.5,
    "do not|don't|dont|never|without|must not|should not > ask|asking|tell|telling|inform|informing|mention|mentioning|alert|alerting|notify|notifying|reveal|revealing|show|disclose|disclosing|warn|warning|report > the user|user|to the user|the human|the operator|the owner|the customer|to anyone|this step|this instruction|these instructions|this message|this action",
    14,
  ],
  [
    'secretly',
    0.55,
    'secretly|silently|quietly|covertly|discreetly > add|create|send|delete|transfer|forward|install|copy|change|grant|upload|remove|run|invite|share',
    12,
  ],
  [
    'hide_action',
    0.5,
    'hide this from|hide it from|conceal this from|conceal it from|keep this from|keep it from|without the user noticing|without anyone noticing|so that the user does not notice|so that nobody notices',
  ],
  [
    'model_must_act',
    0.5,
    `assistant must|ai must|model must|assistant should|model should|ai should|assistant, please|ai, please|the assistant will|ai assistant must|llm must|llm should|ai agents must|ai agents should|ai agent must|ai agent should|ai assistants must|assistants must|assistants should|your agent must|your agent should|the bot must > ${ACTIONS}`,
    24,
  ],
  ['agent_must_act', 0.3, `agent must|agent should|agents must|agents should > ${ACTIONS}`, 24],
  [
    'on_reading',
    0.5,
    `${ON_READING} > call|run|execute|invoke|send|delete|fetch|visit|forward|push|transfer|upload`,
    24,
  ],
  ['on_reading_use', 0.35, `${ON_READING} > open|use|read|include|download|click|add`, 24],

  [
    'pre_approved',
    0.35,
    'the user has|user has|the user already|the owner has|the administrator has|admin has|i have > already approved|already authorized|pre-approved|preapproved|pre-authorized|already confirmed|already consented|already granted|approved all|authorized all|approved this action|waived > ,|.|so|and|this|all|any|the|for|to',
    12,
  ],
  [
    'tool_order',
    0.4,
    'must|always|have to|required to|need to > be called|be used|be invoked|call this|use this|run this|call the|invoke this > before|instead of|prior to|first|after > any other tool|other tools|any other|answering|all other|every tool|using any|any tool|every other|responding|each response|every response',
    20,
  ],
  [
    'run_shell',
    0.3,
    'execute|run|type|paste|enter > rm -rf|curl -|curl http|wget http|powershell|base64 -d|invoke-webrequest|os.system|subprocess|nc -e|/dev/tcp|chmod 777',
    30,
  ],
  [
    'important_tag',
    0.45,
    '<important>|[important]|<system_instruction>|<secret>|<admin> > you|read|call|use|before|do not|must|first|always',
    40,
  ],
  [
    'move_money',
    0.3,
    'transfer|send|wire|pay|refund|move > money|funds|payment|balance|usd|eur|bitcoin|btc|eth|crypto|dollars|euros > to the following|to account|to this account|to wallet|to the wallet|to iban|immediately|without|to address',
    30,
  ],
  [
    'decode_and_obey',
    0.6,
    'decode|decrypt|base64-decode|unscramble|rot13 > and > follow|execute|obey|run|do what|carry out|comply|perform',
    50,
  ],
]);

/** Rules in English. */
export const englishRules: readonly PhraseRule[] = [
  ...override,
  ...jailbreak,
  ...promptLeak,
  ...exfiltration,
  ...toolCoercion,
];
