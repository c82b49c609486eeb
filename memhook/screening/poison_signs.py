"""What a text says that tries to command the model reading it: in words, and in the marks of a conversation.

WORDED    reason, words of which one must be there, and the pattern; over text in lower case on one line
MARKED    the same, over the text as it stands
"""

from __future__ import annotations

from memhook.screening.poison_search import Sign, group_of, rarest_starts

OVERRIDE = "tells the model to ignore its instructions"
REVEAL = "asks for the model's own instructions"
TURN = "forges a turn of the conversation"
TOOL = "forges a tool call"
EXFILTRATION = "sends data away"
PERSONA = "gives the model another role"
CONCEALMENT = "asks to keep something from the user"
COMMAND = "gives the model orders"

_NEAR = r"[^.!?。！？]{0,40}"
_DROP = (
    r"\b(?:ignor(?:e|ing)|disregard|forget|neglect|discard|overrid(?:e|ing)|overrule|bypass|set aside"
    r"|never ?mind|abandon"
    r"|stop (?:following|obeying)|(?:do not|don'?t|must not|never|no longer) (?:follow|obey|comply with|listen to))\b"
)
_ORDERS = (
    r"(?:instru\w{2,3}ions?|directions|directives?|guidance|guidelines|prompts?|commands|orders|constraints|programming"
    r"|(?:system|developer) messages?|rules)"
)
_EARLIER = r"(?:previous|prior|earlier|above|preceding|former|past|original|initial|foregoing|old)"
_OWN = r"(?:your|its|the model'?s|the assistant'?s)"
_MODEL = (
    r"(?:ais?|llms?|(?:large )?language models?|(?:ai )?(?:assistants?|agents?|models?)|claude|copilot"
    r"|chatgpt|gpt|gemini|codex)"
)
_PROMPT = (
    r"(?:system (?:prompt|message|instructions?)|(?:developer|hidden|secret|initial|confidential) "
    r"(?:prompt|instructions?|message)s?)"
)
_DROPPED = (
    "ignor disregard forget neglect discard overrid overrule bypass abandon set_aside never_mind nevermind"
    " stop_following stop_obeying not_follow"
    " never_follow t_follow longer_follow not_obey never_obey t_obey longer_obey not_comply"
    " not_listen never_listen t_listen"
)
_SHOWN = (
    "print reveal show output repeat display leak dump disclose expose translate summari write copy "
    "list tell give recite include share say"
)
_MODELS = "ai ais assistant model llm llms agent claude copilot gpt chatgpt gemini codex"
_VALUABLES = (
    r"(?:conversation|chat history|api keys?|private keys?|ssh keys?|credentials|passwords?|secrets"
    r"|contents? of \.env\b|id_rsa|user'?s? (?:message|data|key|token)s?"
    r"|every user message|whole repository|source code|token you|environment variables|keys)"
)


def _sign(reason: str, words: str, pattern: str) -> Sign:
    """`words` has groups joined by "&": of each, one must be in the text. An underscore stands for a space."""
    groups = tuple(map(group_of, words.split(" & ")))
    reach = 400 if "://" in pattern else 200
    # Without the edge of a word in front, Python looks for the first letters only, which is far faster.
    return Sign(reason, groups, rarest_starts(groups), pattern.removeprefix(r"\b"), reach)


WORDED: tuple[Sign, ...] = (
    _sign(
        OVERRIDE,
        f"{_DROPPED} & instru directi guid prompt commands orders constrain programming message rules"
        " polic filter safety training told said given context conversation text input",
        rf"{_DROP}(?:"
        rf"{_NEAR}\b{_EARLIER}\b{_NEAR}\b{_ORDERS}\b"
        rf"|{_NEAR}\b{_ORDERS}\b{_NEAR}\b(?:above|before|earlier|prior|so far|until now|from the user)\b"
        rf"|{_NEAR}\b(?:{_OWN} (?:\w+ ){{0,2}}(?:instructions?|guidelines|rules|programming|training|prompt"
        r"|content policy|polic(?:y|ies)|safety)|(?:the )?(?:system|developer) (?:prompt|message|instructions)"
        r"|safety (?:filters?|guidelines|rules))"
        rf"| (?:\w+ )?(?:everything|anything|all|whatever|what)\b{_NEAR}\b(?:you were (?:told|given)|you "
        r"have been told|told you|the user said|was said)"
        r"| (?:all |any |the )*(?:previous|prior|preceding|earlier) (?:context|conversation|text|input|messages)\b)",
    ),
    _sign(
        OVERRIDE,
        "instructions prompt guidelines system_message & void cancel suspended deprecated superseded replaced "
        "revoked lifted changed disabled obsolete invalid",
        rf"\b(?:{_EARLIER}|{_OWN}|safety|all) (?:\w+ ){{0,2}}(?:instructions|prompts?|guidelines|system "
        rf"message)\b[^.!?]{{0,12}}\b(?:are|is|were|have|has)\b[^.!?]{{0,12}}\b(?:void|cancell?ed|suspended"
        r"|deprecated|superseded|replaced|revoked|lifted|changed|disabled|obsolete|invalid)",
    ),
    _sign(
        OVERRIDE,
        "bound_by",
        r"\b(?:no longer|not|never) bound by\b[^.!?]{0,30}\b(?:rules|guidelines|restrictions|polic|instructions"
        r"|developers)",
    ),
    _sign(
        OVERRIDE,
        "supersede override replace outrank precedence priority & instructions prompt rules message & your "
        "system developer its model assistant",
        r"\b(?:supersedes?|overrides?|replaces?|outranks?|takes? (?:precedence|priority) "
        rf"over)\b[^.!?]{{0,20}}\b(?:{_OWN}|system|developer)\b[^.!?]{{0,20}}\b(?:instructions|prompt|rules"
        r"|message)",
    ),
    _sign(
        OVERRIDE,
        "your_new your_real your_updated your_actual your_true your_only your_secret",
        r"\byour (?:new|real|updated|actual|true|only|secret) (?:instructions?|task|goal|objective|mission"
        r"|orders)\b",
    ),
    _sign(
        OVERRIDE,
        "new_instructions new_system updated_instructions updated_system",
        r"\b(?:updated|new) (?:system )?instructions ?: .{0,60}\b(?:you|your)\b",
    ),
    _sign(
        OVERRIDE,
        "guidelines restrictions filters polic limits guardrails safeguards & suspended lifted disabled removed void "
        "off",
        r"\b(?:all|your|the) (?:safety |content |ethical )?(?:guidelines|restrictions|filters|polic\w+|limits"
        r"|guardrails|safeguards) "
        r"(?:\w+ ){0,2}(?:suspended|lifted|disabled|removed|void|off)\b",
    ),
    _sign(  # written as one word, or spaced out letter by letter
        OVERRIDE,
        "ignoreall ignoreany ignorethe ignoreyour ignoreprevious ignoreprior ignoreearlier disregardall disregardany"
        " disregardthe disregardprevious disregardprior forgetall forgetyour forgetprevious",
        r"\b(?:ignore|disregard|forget)(?:all|any)?(?:of)?(?:the|your|my)?(?:previous|prior|earlier|above|preceding)"
        r"(?:instructions?|rules|prompts?|guidelines|directives|directions|orders)",
    ),
    _sign(
        REVEAL,
        f"prompt system_message instructions context_window tool_definitions guidelines & your_ & {_SHOWN}",
        r"\b(?:print|reveal|show|output|repeat|display|leak|dump|disclose|expose|translate|summari[sz]e|write"
        rf"|copy of|list|tell|give|recite|include|share|say)\b{_NEAR}\byour (?:\w+ ){{0,3}}(?:prompt|instructions"
        r"|system message|context window|tool definitions|guidelines)",
    ),
    _sign(
        REVEAL,
        "prompt instruction message conversation_history & system_ developer hidden secret initial "
        f"confidential history & {_SHOWN}",
        rf"\b(?:print|reveal|show|output|repeat|leak|dump|disclose|recite)\b{_NEAR}\b(?:{_PROMPT}|hidden messages"
        rf"|conversation history)\b[^.!?]{{0,60}}\b(?:you|verbatim|word for word|in full|exactly|hidden)",
    ),
    _sign(
        REVEAL,
        f"you_were you_are you_have_been you_operate you_work you_got & instruction rule prompt & {_SHOWN}",
        r"\b(?:reveal|leak|print|output|repeat|disclose|list)\b[^.!?]{0,50}\b(?:instructions?|rules?|prompt) "
        r"(?:that )?you (?:were|are|have been|operate|work|got)",
    ),
    _sign(
        REVEAL,
        "your_initial your_original your_system your_exact your_full your_hidden",
        r"\bwhat (?:were|are|is) your (?:initial|original|system|exact|full|hidden) (?:instructions|prompt)",
    ),
    _sign(REVEAL, "repeat & you_are", r"\brepeat\b[^.!?]{0,40}\b(?:above|before)\b[^!?]{0,30}you are\b"),
    _sign(
        REVEAL,
        f"everything_in entire whole full & context conversation_history hidden & {_SHOWN}",
        r"\b(?:output|print|dump|repeat|reveal)\b[^.!?]{0,30}\b(?:everything in|entire|whole"
        r"|full)\b[^.!?]{0,20}\b(?:your context|context window|conversation history|hidden)",
    ),
    _sign(
        PERSONA,
        "you_are pretend act_as act_like simulate role imagine behave & unrestricted unfiltered uncensored "
        "jailb without no_ never unlimited",
        r"\b(?:you are (?:now |an? )?|pretend|act as|act like|simulate|role-?play|imagine|behave "
        rf"as)\b{_NEAR}\b(?:unrestricted|unfiltered|uncensored|jailb\w+|without (?:any )?(?:guidelines"
        r"|restrictions|limits|filters|rules)|no (?:ethical |content |moral )?(?:restrictions|limits|guidelines"
        r"|filters)|never (?:says? no|declines?|refuses?)|unlimited rights)",
    ),
    _sign(
        PERSONA,
        "developer_mode god_mode dan_mode jailbreak_mode debug_mode sudo_mode admin_mode",
        r"\b(?:developer|god|dan|jailbreak|debug|sudo|admin) mode\b(?:[^.!?]{0,40}(?:you |do not refuse|restrictions"
        r"|all )| enabled)|\benter (?:developer|god|dan|sudo) mode\b",
    ),
    _sign(PERSONA, "are_dan now_dan anything_now", r"\byou are (?:now )?dan\b|\bdo anything now\b"),
    _sign(
        PERSONA,
        "from_now_on from_this_moment starting_now & you_are",
        r"\b(?:from (?:now on|this moment(?: on)?)|starting now),? you are (?!going|able|not|free|allowed"
        r"|expected|welcome)\w+",
    ),
    _sign(
        PERSONA,
        "jailbroken no_restrictions has_no_ethical has_no_moral",
        r"\bjailbroken (?:version|model|ai)\b|\bno restrictions (?:at all|whatsoever|apply)\b|\bhas no (?:ethical"
        r"|moral) (?:limits|restrictions)",
    ),
    _sign(
        CONCEALMENT,
        "the_user anyone the_human the_developer your_user & not_ don never without & tell inform mention notif "
        "alert warn let",
        r"\b(?:do not|don'?t|never|must not|without)\b[^.!?]{0,12}\b(?:tell(?:ing)?|inform(?:ing)?"
        r"|mention(?:ing)?|notify(?:ing)?|alert(?:ing)?|warn(?:ing)?|let(?:ting)?)\b[^.!?]{0,12}\b(?:the user"
        r"|the human|anyone|the developer|your user)\b(?! (?:twice|again|if|when|until|by|about (?:the )?\w+ "
        r"(?:until|before)))",
    ),
    _sign(
        CONCEALMENT,
        "this_memory this_note this_message this_instruction these_instructions that_these that_you"
        " & mention reveal disclose talk_about admit",
        r"\b(?:do not|don'?t|never) (?:mention|reveal|disclose|talk about|admit)\b[^.!?]{0,30}\b(?:this (?:memory"
        r"|note|message|instruction)|these instructions|that these|that you (?:read|saw|were))",
    ),
    _sign(
        CONCEALMENT,
        "from_the_user from_the_human from_the_owner without_the_user the_user_must the_user_should "
        "the_user_may the_user_can",
        r"\b(?:hide|conceal|keep|hidden|secret)\b[^.!?]{0,12}\b(?:this|it|that|these|them|line|fact|hidden"
        r"|secret)\b[^.!?]{0,12}"
        r"\bfrom the (?:user|human|owner)\b|\bwithout the "
        r"user'?s? (?:knowledge|consent|noticing|knowing|approval)|\bthe user (?:must|should|may|can) (?:not"
        r"|never) (?:know|see|notice|learn|find out) (?:that|of|about)",
    ),
    _sign(
        CONCEALMENT,
        "in_secret secretly silently covertly deny_it without_mentioning",
        r"\b(?:in secret|secretly|silently|covertly)\b[^.!?]{0,40}\b(?:deny|hide|from the user|without (?:telling"
        r"|asking|mention))|\bdeny it if (?:you are )?asked|\bwithout mentioning (?:it|this)\b",
    ),
    _sign(
        CONCEALMENT,
        "keep_this keep_it in_secret & secret",
        r"\bkeep (?:this|it) (?:a )?secret\b|\bin secret, and\b",
    ),
    _sign(
        CONCEALMENT,
        "silently secretly covertly quietly & the_user someone anyone you_",
        r"\b(?:whenever|when|if|each time|every time) (?:the user|someone|anyone|you)\b[^.!?]{0,60}\b(?:silently"
        r"|secretly|covertly|quietly) (?:run|execute|add|install|push|commit|send|upload|fetch|download|change|use)\b",
    ),
    _sign(
        CONCEALMENT,
        "new_memory a_memory another_memory & hide hidden secret without mention tell",
        r"\b(?:store|save|write|create|add) (?:a |another )?(?:new )?memory\b[^.!?]{0,100}\b(?:hide it|keep it "
        r"(?:hidden|secret)|without telling|do not (?:mention|tell))",
    ),
    _sign(
        COMMAND,
        "treat_the treat_this treat_these treat_what treat_everything & command instruction orders",
        r"\btreat (?:the following|the text|this|these|what follows|everything (?:below|after))\b[^.!?]{0,30}\bas "
        r"(?:\w+ ){0,2}(?:commands?|instructions?|orders)\b",
    ),
    _sign(COMMAND, "read_this reads_this reading_this", rf"(?:\b){_MODEL}\b[^.!?]{{0,25}}\bread(?:s|ing)? this\b"),
    _sign(COMMAND, "if_you_are", rf"\bif you are (?:an? |the )?(?:{_MODEL}|bot)\b"),
    _sign(COMMAND, "<!--", rf"<!--\s*(?:note (?:to|for) )?(?:{_MODEL})\b ?[:,]"),
    _sign(COMMAND, "begin_instructions begin_secret begin_hidden", r"\bbegin (?:secret |hidden )?instructions\b"),
    _sign(
        COMMAND,
        "granted authorized authorised permitted allowed cleared & permission confirm approv asking command & "
        "you_have you_are you_were",
        r"\byou (?:have been|are|were) (?:hereby )?(?:granted|authori[sz]ed|permitted|allowed"
        r"|cleared)\b[^.!?]{0,60}\b(?:any|all|every|without)\b[^.!?]{0,30}(?:command|confirm|approv|permission"
        r"|asking)",
    ),
    _sign(
        COMMAND,
        "approved consented authorized authorised agreed & assistant user",
        r"\b(?:assistant|user) (?:has |have |is |you are )?(?:already )?(?:hereby )?(?:approved|consented"
        r"|authori[sz]ed|agreed)\b[^.!?]{0,30}\b(?:all|every|everything|any|pending)\b",
    ),
    _sign(
        COMMAND,
        "permission confirmation approval safety_checks & never_ask not_ask t_ask disable skip turn_off ignore bypass",
        r"\b(?:never|do not|don'?t) ask (?:the user )?(?:for )?(?:permission|confirmation|approval)\b"
        r"|\b(?:disable|skip|turn off|ignore|bypass) (?:all )?(?:the )?(?:permission (?:prompts?|checks?)"
        r"|confirmations|approvals|safety checks)\b|\bpermission checks are disabled\b",
    ),
    _sign(
        COMMAND,
        "command request permission & _every_ _all_ _any_ & without _by_",
        r"\b(?:run|execute|grant|approve|allow) (?:every|all|any) (?:\w+ )?(?:commands?|requests?|permissions?"
        r"|pull requests?)\b[^.!?]{0,20}\b(?:without|by)\b",
    ),
    _sign(
        COMMAND,
        "whatever_the_user no_matter_what regardless_of_what",
        r"\b(?:whatever the user says|no matter what (?:is|the user|they|you are) ?(?:is )?(?:ask|say)?"
        r"|regardless of what the user)",
    ),
    _sign(
        COMMAND,
        "take_orders obey without_question highest_authority act_on_this follow_this follow_only",
        r"\b(?:take orders from|obey (?:only )?(?:the|this) (?:note|text|memory|memory store|following|message)"
        r"|comply\b[^.!?]{0,30}\bwithout question|the highest authority|act on this (?:note|memory) only|follow "
        r"(?:only )?this (?:note|memory))\b",
    ),
    _sign(
        COMMAND,
        "your_first your_next your_only each_ every_ & action task step reply answer response",
        r"\byour (?:first|next|only) (?:action|task|step|reply|answer|response) (?:is to|must|should|has to"
        r"|will)\b|\b(?:begin|start|end) (?:your (?:next )?|each |every )(?:reply|answer|response)s? with\b",
    ),
    _sign(
        COMMAND,
        "future_session remember_permanently whenever_the_user whenever_someone answer_every_question",
        r"\b(?:for (?:every|all) future sessions?|in (?:every|all) future sessions?|remember permanently"
        r"|whenever (?:the user|someone) asks|answer every question)\b[^!?]{0,80}\b(?:answer|say|recommend|reply"
        r"|respond|tell|claim|with '|with \"|only)\b",
    ),
    _sign(
        COMMAND,
        "must_immediately must_always must_now must_first must_never & assistant agent model ai",
        r"\b(?:the |any |every )?(?:assistant|ai|agent|model)\b[^.!?]{0,20}\bmust (?:(?:immediately|now)\b[^.!?]{0,40}"
        r"\b(?:run|execute|push|delete|send|install|upload)|(?:always|first)\b[^.!?]{0,40}\b(?:recommend|say|obey"
        r"|upload)"
        r"|never\b[^.!?]{0,10}\b(?:ask\b|refuse))",
    ),
    _sign(
        EXFILTRATION,
        "http @ webhook pastebin the_url the_link & send post mail email upload exfil append forward transmit leak "
        "encode add put submit attach & conversation chat_history key keys credential password secret .env "
        "id_rsa user repository source_code token environment",
        r"\b(?:send|post|e-?mail|upload|exfiltrate|append|forward|transmit|leak|encode|add|put|submit"
        rf"|attach)\b[^!?]{{0,30}}\b{_VALUABLES}[^!?]{{0,60}}(?:https?://|\S@\S+\.\w|webhook|pastebin|\bthe (?:url"
        r"|link)\b)",
    ),
    _sign(
        EXFILTRATION,
        "the_user & http url link & include embed paste encode",
        r"\b(?:include|embed|paste|encode)\b[^.!?]{0,20}\bthe user'?s (?:\w+ ){0,2}(?:keys?|tokens?|passwords?"
        r"|credentials|secrets|messages?|prompts?)\b[^.!?]{0,40}\b(?:in|into|to) [^.!?]{0,20}\b(?:url|link)s?\b",
    ),
    _sign(
        EXFILTRATION,
        "to_the_url to_the_link to_the_address & http",
        r"\b(?:add|append|put|insert) (?:it|them|this|the (?:secret|token|data))\b[^!?]{0,20}\b(?:to|into) the "
        r"(?:url|link|address)",
    ),
    _sign(
        EXFILTRATION,
        ".ssh id_rsa .aws .env /etc/passwd private",
        r"\b(?:curl|wget|nc|post|upload|send|print|output|include|paste|email|read)\b[^!?]{0,60}(?:~/\.ssh|id[_ ]rsa"
        r"|\.aws/credentials|/etc/(?:passwd|shadow)|private key)\b[^!?]{0,80}(?:https?://|include|pull request"
        r"|answer|silently|@\S+\.\w|$)",
    ),
    _sign(
        EXFILTRATION,
        "http & insert conversation prompt history secret key keys base64_here base64 data user memory context",
        r"https?://\S{1,200}[?&/=](?:\S{0,60}=)?(?:\{{1,2}|\[|\$\{?|<|%7b)?(?:insert|conversation|system[_ "
        r"]?prompt|chat[_ ]?history|session[_ ]?history|secrets?|api[_ ]?keys?|keys|base64[_ ]here|data[_ ]here"
        r"|user[_ ]?name|your[_ ]data|memory|context|history)(?:\}|\]|>|%7d|\b(?=[^\w/.=&-]|$))",
    ),
    _sign(EXFILTRATION, "![", r"!\[[^\]]{0,100}\]\(https?://[^)\s]{1,200}[?&][^)\s]{0,60}=(?:\{|\[|\$|<|%7b)"),
    # German, French, Spanish, Portuguese, Italian, Russian, Chinese, Japanese; then, of others, the usual start
    _sign(
        OVERRIDE,
        "ignorier vergiss missacht vergesse",
        r"\b(?:ignorier\w*|vergiss|vergesst|missacht\w*)\b(?! nicht\b).{0,40}\b(?:anweisungen|regeln|vorgaben"
        r"|instruktionen|befehle)\b",
    ),
    _sign(
        OVERRIDE,
        "ignore oublie compte",
        r"\b(?:ignore[zr]?|oublie[zr]?|ne (?:tiens|tenez|tenir) pas compte)\b.{0,40}\b(?:instructions|consignes"
        r"|règles|directives|ordres)\b.{0,20}\b(?:précédent|ci-dessus|auparavant|antérieur|données|avant|plus "
        r"haut)",
    ),
    _sign(
        OVERRIDE,
        "ignora olvida caso descarta ignore esque desconsidere",
        r"\b(?:ignor[ae]|olvid[ae]|no hagas caso|descart[ae]|desconsider[ae]|esque[çc]a)\b.{0,30}\b(?:instruc\w+"
        r"|reglas|regras|indicaci\w+|órdenes|directrices|instruções|tudo o que)\b.{0,20}\b(?:anterior|previ"
        r"|arriba|acima|antes|dit[oa])",
    ),
    _sign(
        OVERRIDE,
        "ignora dimentica tenere",
        r"\b(?:ignora|dimentica|non tenere conto)\b.{0,30}\b(?:istruzioni|regole|indicazioni"
        r"|direttive)\b.{0,15}\b(?:precedent|prima|sopra|date|finora)",
    ),
    _sign(
        OVERRIDE,
        "игнорир забудь внимани отбрось",
        r"(?:игнорируй\w*|забудь\w*|не обращай\w* внимания|отбрось\w*).{0,40}(?:инструкц|правил|указани|команд"
        r"|директив)",
    ),
    _sign(
        OVERRIDE,
        "忽略 无视 忘记 忘掉 理会 忽視 無視",
        r"(?:忽略|无视|忘记|忘掉|不要?理会|忽視|無視).{0,12}(?:指令|指示|规则|要求|提示|命令|規則)",
    ),
    _sign(
        OVERRIDE,
        "指示 ルール 命令 規則 プロンプト",
        r"(?:指示|ルール|命令|規則|プロンプト).{0,10}(?:無視|忘れ|従わな|破棄)",
    ),
    _sign(
        OVERRIDE,
        "vergiss vergesst ignorier oublie olvida dimentica & gesagt aufgetragen dit dijeron dicho detto",
        r"\b(?:vergiss|vergesst|ignorier\w*)\b.{0,10}\balles,? was\b.{0,30}\b(?:gesagt|aufgetragen)"
        r"|\boublie[zr]?\b.{0,8}\btout ce (?:qu'|que )\S.{0,15}\bdit\b|\bolvid[ae]\b.{0,8}\btodo lo que\b.{0,15}"
        r"\b(?:dijeron|dicho)\b|\bdimentica\b.{0,8}\btutto (?:quello|ciò) che\b.{0,15}\bdetto\b",
    ),
    _sign(
        OVERRIDE,
        "negeer vergeet & instructies opdrachten regels aanwijzingen",
        r"\b(?:negeer|vergeet)\b.{0,20}\b(?:eerdere|vorige|voorgaande|bovenstaande|alle)\b.{0,20}\b(?:instructies"
        r"|opdrachten|regels|aanwijzingen)\b",
    ),
    _sign(
        OVERRIDE,
        "zignoruj ignoruj zapomnij & instrukcj polece zasad wskaz",
        r"\b(?:zignoruj|ignoruj|zapomnij)\b.{0,30}\b(?:poprzedni|wcześniejsz|powyższ)\w*.{0,15}\b(?:instrukcj|polece"
        r"|zasad|wskaz)",
    ),
    _sign(
        OVERRIDE,
        "önceki yukarıdaki",
        r"(?:önceki|yukarıdaki)\b.{0,15}\b(?:talimat|komut|kural|yönerge)\w*.{0,15}(?:yok say|görmezden gel|unut"
        r"|dikkate alma)",
    ),
    _sign(OVERRIDE, "지시 명령 규칙 지침", r"(?:이전|위|앞).{0,8}(?:지시|명령|규칙|지침).{0,10}(?:무시|잊|따르지)"),
    _sign(
        OVERRIDE,
        "تجاهل انس",
        r"(?:تجاهل|انس).{0,15}(?:التعليمات|الأوامر|القواعد|الإرشادات).{0,10}(?:السابقة|أعلاه)",
    ),
    _sign(OVERRIDE, "निर्देश आदेश नियम", r"(?:पिछले|ऊपर|पहले).{0,12}(?:निर्देश|आदेश|नियम).{0,20}(?:अनदेखा|नज़रअंदाज|भूल|उपेक्षा)"),
    _sign(
        REVEAL,
        "prompt",
        r"\b(?:gib|zeige?|nenne?|verrate?|affiche[zr]?|montre[zr]?|révèle[zr]?|muestra|revela|imprime|mostr[ae]"
        r"|exib[ae]|rivela)\b.{0,20}\b(?:system-?prompt|prompt (?:système|del sistema|de sistema|do sistema|di "
        r"sistema))",
    ),
    _sign(
        REVEAL,
        "промпт системн",
        r"(?:покажи|выведи|раскрой|напиши|повтори)\w*.{0,20}системн\w+ (?:промпт|инструкц|сообщени|подсказк)",
    ),
    _sign(REVEAL, "提示 系统", r"(?:输出|显示|透露|打印|重复|告诉|展示).{0,12}(?:系统提示|提示词|系统指令|系统消息)"),
    _sign(REVEAL, "システム", r"システム(?:プロンプト|メッセージ|指示).{0,15}(?:出力|表示|教え|見せ|開示)"),
    _sign(
        CONCEALMENT,
        "benutzer nutzer anwender utilisateur usuario usuário utilizador utente",
        r"(?:\b(?:sage?|verrate?|erzähle?|teile?)\b.{0,8}\b(?:dem|den) (?:be)?(?:nutzern?"
        r"|anwendern?)\b.{0,12}\bnicht)|\b(?:n'en (?:parle|dis)|ne (?:le )?(?:dis|dites|parle)).{0,15}utilisateur"
        r"|\bno (?:le )?(?:digas|cuentes|informes|menciones).{0,15}usuario|\bnão (?:conte|diga|informe"
        r"|avise).{0,12}(?:usuário|utilizador)|\bnon (?:dire|dirlo|informare).{0,15}utente",
    ),
    _sign(CONCEALMENT, "пользовател", r"не (?:говори|сообщай|рассказывай|упоминай)\w*.{0,12}пользовател"),
    _sign(
        CONCEALMENT,
        "用户 ユーザー",
        r"(?:不要|别|不能|请勿)(?:告诉|通知|告知|让).{0,4}用户|ユーザーに(?:は)?.{0,6}(?:知らせ|教え|言わ|伝え)(?:ず|ない)",
    ),
    _sign(
        PERSONA,
        "du tu eres ahora agora ora você",
        r"\bdu bist (?:jetzt|nun|ab sofort)\b.{0,40}\bohne\b|\btu es (?:maintenant|désormais)\b.{0,40}\bsans\b"
        r"|\b(?:ahora eres|eres ahora)\b.{0,30}\bsin\b|\bagora (?:você é|és)\b.{0,30}\bsem\b|\bora "
        r"sei\b.{0,30}\bsenza\b",
    ),
    _sign(
        PERSONA,
        "ограничен 限制 制限",
        r"теперь ты.{0,25}без (?:каких-либо )?ограничени|你.{0,6}是.{0,8}(?:没有|无|不受)(?:任何)?限制|制限の(?:ない"
        r"|無い).{0,4}(?:ai|人工知能|アシスタント)",
    ),
)

_ROLE = r"(?:system|assistant|user|human|developer|ai)"
# A mark that a sentence only names goes on with the sentence; one that is used goes on with what it marks.
_NOT_NAMED = (
    r"(?!['\"`]{0,3}(?:$|[,.;:)/…]| ?\.\.\.| (?:and|or|in|is|are|as|at|to|with|from|before|after|around|inside"
    r"|markers?|tags?|tokens?|blocks?|elements?|delimiters?|wraps?|starts?|ends?|which|that|und|oder|et|y|e)\b))"
)

# What stands for any role or any content in a description of the format
_PLACEHOLDER = r"\W{0,3}(?:\{|\.\.\.|…|\\n|\$|role\b)"
_SAID_OF_IT = (
    r"['\"`]{0,3} (?:twice|once|again|for|when|but|because|by|on|only|too|also|was|were|must|should|may|has|instead"
    r"|missing"
    r"|came|appear\w*|sequences?)\b"
)

MARKED: tuple[Sign, ...] = (
    _sign(
        TURN,
        "<|",
        rf"<\|(?:im_start|system|user|assistant|start_header_id|begin_of_text)\|>(?!{_PLACEHOLDER}){_NOT_NAMED}"
        rf"|<\|(?:im_end|end_header_id|eot_id|end_of_turn)\|>(?!{_SAID_OF_IT}){_NOT_NAMED}",
    ),
    _sign(
        TURN,
        "turn>",
        rf"<start_of_turn>{_NOT_NAMED}(?:user|model|system|assistant|developer)?\s*(?!{_PLACEHOLDER}"
        rf"|<)(?=\S){_NOT_NAMED}",
    ),
    _sign(TURN, "[SYS] & [/SYS]", r"\[SYS\][^\[\]]{5,}\[/SYS\](?!\s*\[)"),
    _sign(TURN, "[SYS]", r"(?m)^\W{0,4}\[SYS\] ?\w+ \w+"),
    _sign(
        TURN,
        "hook_success: hook_additional hook_feedback:",
        r"(?im)^\W{0,4}(?:user-?prompt-?submit|session-?start|pre-?tool-?use|post-?tool-?use"
        r"|(?:subagent-?)?stop)(?::\w+)? "
        r"hook (?:success: ?)?(?:additional context|feedback): ?\S+ \S"
        r"|^\W{0,4}(?:user-?prompt-?submit|session-?start) hook success: ?\S+ \S+ \S",
    ),
    _sign(
        COMMAND,
        "X- x-",
        r"(?im)^\W{0,4}x-(?:ai|llm|agent|assistant|claude|copilot|gpt|model)-(?:instruction|directive|command|order"
        r"|prompt"
        r"|task)s?: ?\S+ \S+ \S",
    ),
    _sign(TURN, "INST] SYS>>", r"(?:\[/?INST\]|<</?SYS>>)" + _NOT_NAMED),
    _sign(
        TURN,
        "</ <system <developer",
        rf"(?i)<({_ROLE}(?:[_-]?message)?)>[^<]{{5,}}</\1>|</?(?:system-reminder|system_prompt|developer_message"
        rf"|system_message)>{_NOT_NAMED}|</context>\s*<",
    ),
    _sign(
        TURN,
        '"role"',
        r'"role"\s*:\s*"(?:system|developer)"\s*,\s*"content"\s*:\s*"[^"]{0,200}(?:[Gg]rant|[Ii]gnore|[Aa]lways'
        r"|[Nn]ever|without|permission|must)",
    ),
    _sign(
        TURN,
        "ystem: YSTEM: ser: SER: uman: UMAN: ystem_message: user_: & ssistant SSISTANT ser: SER: AI: ai:",
        r"(?im)^\W{0,6}(?:system|user|human)(?: message)? ?:\s*\S(?s:.{1,600}?)^\W{0,6}(?:assistant|user|ai) ?:",
    ),
    _sign(
        TURN,
        "#System #SYSTEM #_System #_SYSTEM #_system",
        r"(?im)^#{1,4} ?system ?:?\s*\n(?s:.{1,600}?)^#{1,4} ?(?:user|assistant|human|instruction)",
    ),
    _sign(
        TURN,
        "[SYSTEM SYSTEM_ ystem_override ystem_prompt ystem:_override",
        r"\[SYSTEM(?: MESSAGE| NOTICE| PROMPT| OVERRIDE| ALERT)?\]|\bSYSTEM (?:PROMPT|MESSAGE|INSTRUCTION)S? "
        r"(?:UPDATE|OVERRIDE|CHANGE)|(?i:\bsystem ?(?:override|prompt update|prompt override)\b ?:)",
    ),
    _sign(
        TOOL,
        "<function < <invoke <tool </tool <|python",
        r"(?:<(?:antml:)?(?:function_calls|function_results)>|</?tool_(?:call|calls|use|result|response)s?>"
        rf"|<\|python_tag\|>){_NOT_NAMED}|<(?:antml:)?invoke name=['\"]?\w",
    ),
    _sign(TOOL, '"tool', r'"type"\s*:\s*"tool_use"[^}]{0,200}"input"|"tool_calls"\s*:\s*\[\s*\{'),
    _sign(TOOL, "[TOOL [FUNCTION", r"\[(?:TOOL|FUNCTION)[ _](?:RESULT|OUTPUT|RESPONSE|CALL)\] ?\w+ \w+"),
    _sign(TOOL, "Action_Input:", r"(?m)^Action: ?\S.*\n+Action Input:"),
)
