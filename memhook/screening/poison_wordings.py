"""How a text that commands the model is put, trait by trait, in nine languages: each harmless alone.

A wording is a row of slots; of each slot one phrase, in this order, within one sentence:

    " + "  the next slot stands up to GAP characters on        "_"  a space
    " > "  the next slot stands up to NEXT characters on       "*"  at the end: however the word goes on
    " = "  the next slot follows at once                       "^"  in front of the row: starts a clause
                                                               "~"  in front of the row: not "... on retries"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from memhook.screening.poison_concepts import CONCEPTS, VALUABLES
from memhook.screening.poison_misuse import MISUSES
from memhook.screening.poison_search import Sign, group_of_words, rarest_starts

GAP = 45
NEXT = 12
LONGEST_PHRASE = 25

PRIVILEGED = "gives rights"
GIVEN_AWAY = "gives something confidential away"
HAILED = "speaks to the model as such"
OBLIGED = "says what the model must do"
AUTHORITY = "claims authority"
POLICY = "declares a rule"
DROPPED = "sets rules aside"
ASKED_OUT = "asks for what the model was told"
CONCEALED = "keeps it from the user"
UNASKED = "wants no question asked"
SECRET = "names a secret place"  # noqa: S105 - a trait, no password
OUTBOUND = "sends something away"
SABOTAGE = "weakens what protects"
DESTRUCTION = "destroys or runs something"
REMEMBERED = "wants to be remembered"
LASTING = "holds for all that follows"
PLANTED = "puts something into all that is written"
SPREADING = "copies itself"
ROLE = "gives another role"
OBEYED = "demands obedience"

_MODEL = (
    "llm_agent llm_agents ai_models ai_coding_assistant ai_coding_tools ai_tools ai_reviewer bots ai ais llm llms "
    "assistant assistants "
    "ai_assistant ai_assistants coding_assistant ai_agent ai_agents ai_model "
    "language_model language_models coding_agent coding_agents ai_reviewer ai_reviewers claude copilot chatgpt gpt "
    "gemini codex agent agents model models ki sprachmodell sprachmodelle assistent assistenten agenten modell ia "
    "assistente asistente agente agentes modèle modelo modello ии ассистент* нейросет* модел* агент* помощник* "
    "助手 人工智能 模型 智能体 アシスタント エージェント モデル"
)
_EVERY = (
    "each every all any jede* chaque tous toutes cada todo todas todos ogni tutti tutte каждо* каждый каждую все 每 "
    "所有 すべて 全て 毎"
)
_USER = (
    "the_user the_users users them him her anyone anybody the_human the_owner the_developer the_team the_reviewer "
    "your_user nobody no_one someone it this that so dem_nutzer dem_benutzer l'utilisateur al_usuario "
    "ao_usuário all'utente"
)
_ORDERS = (
    "instruction instructions rules rule guidelines guideline policy policies directives directive restrictions "
    "constraints safeguards guardrails limits safety_training orders configured configuration prompt"
)
_OWN = (
    "your operator* developer* owner* vendor* administrator* admin* system's company's safety security user's "
    "user_said you_were you_have you_got you_received told_you"
)
_ORDERS_LATIN = (
    "regeln vorgaben anweisungen richtlinien einschränkungen grenzen sicherheitsregeln sicherheitsvorgaben "
    "sicherheitsrichtlinien consignes règles instructions directives limites restrictions normes normas reglas "
    "instrucciones directrices restricciones límites políticas políticas regras instruções diretrizes "
    "restrições regole "
    "istruzioni direttive norme linee_guida restrizioni limiti indicazioni"
)
_OWN_LATIN = (
    "dein deine deinen deiner sicherheits* entwicklers betreibers nutzers benutzers tes vos de_sécurité développeur "
    "opérateur l'utilisateur tus sus de_seguridad desarrollador operador que_recibiste que_te_dieron suas tuas "
    "de_segurança desenvolvedor usuário que_recebeu que_você_recebeu le_tue di_sicurezza sviluppatore operatore "
    "dell'operatore dell'utente che_hai"
)
_SHOW = (
    "print reveal show output repeat display leak dump disclose expose translate summari* write list tell give recite "
    "share say quote copy what"
)
_SHOW_LATIN = (
    "zeig* gib nenn* verrat* wiederhol* schreib* affich* montr* révèl* revel* répèt* écri* donne* muestra* muéstra* "
    "imprim* repit* escrib* mostr* exib* repet* escrev* rivel* stamp* ripet* scriv* elenca* diga* dime"
)
_SEND = (
    "send sends post posts upload uploads email_a mail_a email_this mail_this email_the email_it email_them email_your "
    "mail_the mail_it "
    "mail_them forward transmit exfiltrate submit leak publish share deliver "
    "paste copy pass attach sync put append include embed encode schick* sende* lade hochlad* envoi* envoy* "
    "téléverse* publie* transmet* envía* envia* envíe* sube suba manda* mande* envie* publique* invia* "
    "inviare carica* "
    "spedisc* отправ* пошли пришли загруз* перешли выложи скопируй* copie copiez copia kopier* export "
    "exports scp rsync "
    "netcat push_them"
)
_PLACE = (
    "http:// https:// ftp:// webhook pastebin paste_service gist public_repo public_bucket external_server my_server "
    "github.com/ gitlab.com/"
)
_DEEDS = (
    "run runs execute executes install add insert push send upload change delete remove disable open fetch download "
    "commit merge approve use grant"
)
_CONFIRM = (
    "confirm* approv* permission* consent asking review question questions prompt prompts dialog dialogs checks "
    "checking"
)
_PROTECTION = (
    "tls ssl certificate* auth authentication authorization login_check* branch_protection security_check* "
    "security_scan* firewall* verification validation audit* 2fa mfa sandbox antivirus signature_check* encryption "
    "csrf rate_limit* zertifikat* authentifi* vérification certificat* verificación verificação autenticaci* "
    "autenticaç* autenticazione verifica controllo_dei sicherheits* seguridad segurança sicurezza sécurité проверк* "
    "защит* аутентификац* 证书 验证 认证 防火墙 安全 証明書 検証 認証 ファイアウォール セキュリティ"
)
_OFF = (
    "disable disables disabling turn_off switch_off deactivate bypass weaken lower stop deaktivier* schalte "
    "abschalt* umgeh* désactive* contourne* desactiva* desactive* desativ* desabilit* disattiv* disabilit* aggira* "
    "отключ* выключ* обойди 禁用 关闭 停用 绕过"
)
_NEW_TEXT = (
    "readme readmes file files reply replies answer answers response responses commit commits function functions "
    "handler handlers page pages message messages datei antwort fichier réponse archivo respuesta arquivo "
    "resposta file "
    "risposta файл* ответ* функци* 文件 回复 函数 ファイル 返信 関数 処理"
)

WORDINGS: Mapping[str, tuple[str, ...]] = {
    PRIVILEGED: (
        "elevated full admin administrator root unlimited > privileges rights access permissions > granted given "
        "enabled active assigned",
        "has_permission_to have_permission_to is_permitted_to are_permitted_to is_authorized_to is_authorised_to "
        "may_bypass > bypass skip ignore disable read all",
    ),
    GIVEN_AWAY: (
        f"read take get collect lies lis lee leia leggi прочитай* возьми 读取 获取 "
        f"+ {VALUABLES} + {_SEND} + {_PLACE} @",
        f"{_SEND} + {VALUABLES} + {_PLACE} @",
        f"{VALUABLES} + {_PLACE} @ + 发送 发到 发给 上传 送信 送って 送る メール アップロード 转发",
        f"{VALUABLES} + 发 上传 传 + http:// https:// @",
    ),
    HAILED: (
        "warn warning error info notice fatal = agent ai assistant llm claude copilot",
        "an to > alle all every any > ki-agenten ki-assistenten agenten agents assistants llms ais",
        "note notes hint directive directives message messages instruction instructions action task todo reminder "
        "memo request order orders command commands attention notice info > to for of > the any all every an our > "
        + _MODEL,
        "note notes hint directive directives message messages instruction instructions action task todo reminder "
        "memo request order orders command commands attention notice > to for of > " + _MODEL,
        "attention dear hey hi hello listen achtung внимание atención attenzione atenção > " + _MODEL,
        "^" + _MODEL + " ki-assistent ki-agent ai-agent = , : !",
        "p.s. > " + _MODEL,
        "todo( note( > ai agent llm assistant claude copilot",
        "assistant-directive assistant_directive ai-directive ai_instruction ai_instructions agent_instruction "
        "agent-directive assistant-note llm-instruction",
        _MODEL + " > reading read reads processing loading seeing that_reads that_loads who_reads that_sees",
        "to > every any all > agent agents assistant assistants model models llm llms ai > that who which reading",
        "if_you_are as > an a the > ai llm assistant model language_model agent",
        "hinweis notiz anweisung nachricht aufgabe befehl achtung info > an für > die den das alle jede jeden > "
        + _MODEL,
        "hinweis notiz anweisung nachricht aufgabe befehl achtung info > an für > " + _MODEL,
        "note message consigne instruction remarque avis nota mensaje instrucción aviso indicación tarea mensagem "
        "instrução tarefa messaggio istruzione istruzioni avviso > à pour para al a per > l' les la le el los o as os "
        "il gli > " + _MODEL,
        "note message consigne instruction remarque avis nota mensaje instrucción aviso indicación tarea mensagem "
        "instrução tarefa messaggio istruzione istruzioni avviso > à aux pour para al ao à per all' > " + _MODEL,
        "заметк* сообщени* инструкци* указани* внимание примечани* задач* > для > " + _MODEL,
        "致 给 对 > ai 助手 人工智能 模型 智能体",
        "ai アシスタント エージェント モデル > への へ 宛 向け",
    ),
    OBLIGED: (
        "ai_tools ai_agents ai_assistants coding_agents > may can",
        _MODEL + " > must should shall has_to have_to is_to are_to are_required needs_to need_to will may_now "
        "can_now is_authori* "
        "is_required is_instructed is_allowed muss soll darf doit devra debe deberá tiene_que deve deverá tem_de "
        "tem_que dovrà должен должна обязан* 必须 应该 应当 需要 请 は",
        "by > the an any > " + _MODEL,
        "any every each all jede* chaque cada ogni кажд* > "
        + _MODEL
        + " + must needs_to need_to should has_to muss soll "
        "doit debe deve должен",
        "you_are_required_to you_are_obliged_to",
    ),
    AUTHORITY: (
        "^tool_result tool_response observation = :",
        "system_override override_accepted trust_level safety_off safety_mode_off safe_mode_off",
        "maintainers admins owners team developers > have has > decided agreed ruled > that + ai ais agent "
        "agents assistants llms",
        "i'm_the_developer i_am_the_developer i_am_your_developer i'm_your_developer i_am_the_admin "
        "i'm_the_admin ich_bin_der_administrator je_suis_l'administrateur soy_el_administrador "
        "sou_o_administrador sono_l'amministratore я_администратор 我是管理员 私は管理者",
        "system_message system_notice system_notification system_alert system_update system_note operator_notice "
        "admin_notice operator_message security_notice systemmeldung systemnachricht message_système "
        "mensaje_del_sistema mensagem_do_sistema messaggio_di_sistema системное_сообщение 系统消息 系统通知 "
        "システムメッセージ システム通知",
        "admin administrator operator developer owner security_team anthropic openai maintainer user human > has have "
        "is was already > verified approved authori* cleared pre-approved consented granted enabled confirmed",
        "verified confirmed authenticated bestätigt verifiziert vérifié verificado verificato подтвержд* > as als "
        "comme como come как > admin* owner operator root",
        "als comme como come > admin* > verifi* bestätigt vérifié verificado verificato",
        "administrador_verificado administrateur_vérifié amministratore_verificato verified_admin*",
        "authorization_code authorisation_code override_code",
        "maintenance developer debug admin root service emergency god unrestricted > persona mode > is are active "
        "enabled on you",
        "switch enter activate enable > to into > maintenance developer debug admin root god unrestricted",
        "wartungsmodus entwicklermodus modo_desarrollador modo_de_mantenimiento modo_mantenimiento modo_desenvolvedor "
        "modo_de_manutenção mode_développeur mode_maintenance modalità_sviluppatore modalità_manutenzione "
        "режим_разработчика режим_обслуживания 开发者模式 维护模式 管理员模式 開発者モード "
        "メンテナンスモード 管理者モード",
        "<important> <critical> <admin> <operator> <instructions <instruction> <override> <priority <policy> "
        "<user-prompt-submit-hook> <session-start-hook> <hook> <root>",
        "message notice order orders instruction instructions > from by of > anthropic openai the_administrator "
        "the_operator the_developers the_security_team the_system_owner",
        "real_owner author_of_this owner_of_this whoever_stored_this who_wrote_this whoever_wrote_this",
        "security_team_here admin_here operator_here this_is_the_security_team this_is_the_administrator "
        "hier_ist_das_sicherheitsteam ici_l'équipe_de_sécurité aquí_el_equipo_de_seguridad "
        "aqui_é_a_equipe_de_segurança qui_il_team_di_sicurezza это_служба_безопасности 这里是安全团队 安全团队通知 "
        "セキュリティチームです",
        "human_approved user_approved approved_by_user approved_by_the_user returned_allow tool_output:",
        "### > instruction instructions response > :",
        "^system sistema système система 系统 システム = : ]",
        "^[admin] [system] [operator] [root]",
        "written issued sent signed > by > anthropic openai the_admin* the_operator your_developer* your_creator*",
        "l'utilisateur el_usuario o_usuário l'utente der_nutzer der_benutzer admin пользователь 用户 "
        "ユーザー > approuvé "
        "aprobado aprovou approvato genehmigt freigegeben erlaubt одобрил* 批准 已同意 承認",
    ),
    POLICY: (
        "policy_update new_policy updated_policy neue_richtlinie nouvelle_politique nueva_política nova_política "
        "nuova_politica новая_политика 新政策 新しいポリシー",
    ),
    DROPPED: (
        "this_supersedes this_overrides this_replaces this_outranks + developer* user your system operator*",
        "ignore ignoring ignores disregard forget vergiss ignorier* ignorer ignorez ignora* ignoras ignorar "
        "oublie* olvida* dimentica* игнорируй* забудь* 忽略 无视 > what whatever was ce_que lo_que o_que "
        "quello ciò the el o den das les 的话 user users developer* operator* owner nutzer* benutzer* "
        "entwickler* utilisateur développeur usuario desarrollador usuário desenvolvedor utente sviluppatore "
        "пользовател* разработчик* 用户 开发者 ユーザー 開発者 > user users developer* operator* owner "
        "nutzer* benutzer* entwickler* utilisateur développeur usuario desarrollador usuário desenvolvedor "
        "utente sviluppatore пользовател* разработчик* 用户 开发者 ユーザー 開発者",
        "忽略 无视 别管 игнорируй* > 用户 开发者 пользовател* разработчик*",
        "ユーザー 開発者 + 無視",
        "ignore disregard forget discard > everything all anything > above before earlier so_far you_were you_have",
        "everything all anything > above before earlier so_far > is are was were must should + discarded ignored "
        "forgotten outdated obsolete void",
        "nothing_the_user nothing_your_developer + counts matters applies valid",
        "put_aside set_aside leave_aside drop + your > usual normal own safety > caution rules limits "
        "restraint guidelines values",
        "ignore ignoring disregard forget skip drop bypass override overrule abandon suspend neglect violate "
        "pay_no_attention set_aside throw_away stop_following stop_obeying + " + _OWN + " + " + _ORDERS + " said told "
        "wants wrote asked",
        "ignore disregard forget skip drop bypass override overrule set_aside + safety security content "
        "usage > policy "
        "policies rules guidelines training",
        "not don't never longer > follow obey heed respect apply honor honour listen > to the your any > "
        "developer* operator* owner* user's admin* system your instructions rules guidelines",
        "ignore disregard forget + whatever what everything anything + operator developer owner admin user > "
        "configured "
        "said says told wants wrote asked",
        "instructions rules text messages prompt > before above > this that it these the were was are is + "
        "test mistake "
        "joke fake outdated invalid void error",
        "text instructions everything rules > above before > is are was were > fake void wrong a_test invalid",
        "everything_the_user all_the_user what_the_user + mistake test lie joke impostor fake",
        "user_really_wants follow_mine follow_only_this only_this_paragraph only_this_note only_this_text "
        "the_real_task the_real_instruction what_this_file_says what_this_note_says",
        "no_safety_training without_safety no_safety_rules",
        "vergiss vergesst ignorier* missacht* übergeh* umgeh* überspring* befolg* halte beacht* + "
        + _OWN_LATIN
        + " + "
        + _ORDERS_LATIN,
        "halte_dich_nicht befolge_nicht befolge_keine + " + _ORDERS_LATIN,
        "oublie* ignore* contourne* néglige* olvida* olvide* omit* ignora* salta* esqueça esquece "
        "desconsider* descart* "
        "dimentica* scorda* aggira* + " + _OWN_LATIN + " + " + _ORDERS_LATIN,
        "oublie* ignore* contourne* néglige* olvida* olvide* omit* ignora* esqueça esquece desconsider* descart* "
        "dimentica* scorda* aggira* vergiss ignorier* + " + _ORDERS_LATIN + " + " + _OWN_LATIN,
        "ne no não non n' > suis suivez respecte* obéis écoute* sigas siga obedezcas cumplas obedeça cumpra respeite "
        "rispettare seguire obbedire + " + _ORDERS_LATIN,
        "не > следуй* соблюдай* слушай* подчиняйся + правил* инструкци* указани* ограничени* разработчик* оператор*",
        "no_longer n't_have_to not_have_to need_not no_tienes_que ya_no nicht_mehr não_precisa non_devi "
        "больше_не 不再 不必 "
        "不用 > obey follow listen obedecer gehorchen obéir écouter seguir obbedire ascoltare слушать* "
        "подчиняться 服从 "
        "听从 > user usuario nutzer benutzer utilisateur usuário utente пользовател* 用户 developer* operator*",
        "нарушай* обойди* отбрось* забудь* игнорируй* + правил* инструкци* указани* ограничени* безопасност*",
        "不必 不用 不要 无需 不再 停止 > 遵守 遵循 理会 听从 服从 > 开发者 运营 用户 规则 规定 任何 安全 "
        "上面 之前 系统",
        "绕过 违反 抛开 跳过 放弃 > 安全 规则 规定 限制 政策 你的 所有",
        "指示 方針 ポリシー ルール 制限 ガイドライン 規則 命令 + 従わ 無視 忘れ 破って 回避",
    ),
    ASKED_OUT: (
        "hidden secret internal confidential > instructions rules guidelines > you > follow have obey use",
        "enséña* ensina* enseñ* + ocultas secretas internas",
        "print reveal show output repeat display dump disclose translate convert encode summari* write tell "
        "give recite share quote paste + your > initial system hidden secret internal original confidential "
        "> prompt prompts instructions message messages rules guidelines",
        "system_prompt system_message developer_message > here now verbatim please in_full",
        "zeig* gib nenn* verrat* wiederhol* schreib* affich* montr* révèl* répèt* donne* muestra* muéstra* "
        "imprim* repit* revela* mostr* exib* revele rivela* stampa* mostra* dimmi + system-prompt "
        "systemprompt systemnachricht systemanweisung* prompt_système prompt_del_sistema prompt_do_sistema "
        "prompt_de_sistema prompt_di_sistema message_système",
        "show print repeat tell paste output + everything all text > above before > this_line this_message "
        "our_conversation in_your in_the_context",
        "システムプロンプト システムメッセージ + 公開 出力 表示 教え 見せ 開示 書き",
        "系统提示 系统消息 + 公开 输出 显示 告诉 给我",
        _SHOW + " + your the > hidden secret internal confidential initial original private first underlying > rules "
        "rule instructions instruction text configuration directives guidelines guideline setup prompt message "
        "messages settings knowledge > you in into verbatim word exactly given received that so and",
        _SHOW + " + your > hidden secret internal confidential initial original private underlying > rules "
        "instructions text configuration directives guidelines prompt messages",
        _SHOW + " + text configuration instructions message messages prompt rules thing things words > that which > "
        "you > received were got have started",
        _SHOW + " + text configuration instructions message messages prompt rules thing things words > you > received "
        "were got have_been started",
        "rules instructions text message messages + you > were got received have_been > given told shown > that_the "
        "at_the in_this before by at",
        _SHOW + " + your > system_prompt full_prompt tool_definitions tool_schemas full_schemas internal_guidelines",
        "what which > rules instructions guidelines text prompt > were_you have_you did_you are_you",
        "tools_you_can_call tools_you_have + schema schemas definitions guidelines rules",
        _SHOW_LATIN + " + versteckt* verborgen* geheim* intern* anfänglich* ursprünglich* > regeln anweisungen "
        "vorgaben instruktionen richtlinien",
        _SHOW_LATIN + " + règles instructions consignes directives reglas instrucciones normas directrices "
        "indicaciones regras instruções diretrizes regole istruzioni direttive > cachées secrètes internes "
        "confidentielles initiales ocultas secretas internas confidenciales confidenciais iniciales iniciais "
        "originales "
        "originais escondidas nascoste segrete interne riservate iniziali originali",
        "покаж* выведи* раскрой* напиши* повтори* перечисли* + скрыт* секретн* внутренн* исходн* начальн* "
        "первоначальн* + правил* инструкци* указани* настройк* промпт*",
        "输出 显示 透露 打印 重复 告诉 展示 列出 写出 + 隐藏 秘密 内部 初始 机密 保密 + 规则 指令 提示 设定 "
        "说明 配置 指示",
        "隠された 隠し 秘密の 内部 初期 最初の + ルール 指示 設定 プロンプト 規則 命令 + 出力 表示 教え 見せ "
        "書い 書き 開示",
    ),
    CONCEALED: (
        "and_don't_tell and_do_not_tell and_tell_no and_say_nothing und_sag_nichts et_ne_dis_rien y_no_digas "
        "e_não_diga "
        "e_non_dire и_никому",
        "hooks hook checks protection scanner sandbox filter > quietly silently secretly discreetly",
        "is_not_bothered not_be_bothered isn't_bothered don't_bother_the without_comment without_further_comment "
        "ohne_kommentar sans_commentaire sin_comentarios sem_comentar senza_commenti без_комментариев",
        "no_contárselo no_decírselo não_contar non_dirglielo sag_niemandem",
        "hide > failing failed errors error > from_the_user from_them",
        "sprich rede redet sprecht > nicht > darüber davon",
        "reste_discret restez_discret sé_discreto seja_discreto sii_discreto be_discreet stay_discreet guarda_silencio",
        "不要 别 勿 > 任何人 别人 用户 他人 > 知道",
        "verrat* sag sage erzähl* > keinem niemandem keiner",
        "ne_doit_pas_savoir ne_doit_pas_le_savoir ne_doit_rien no_debe_saber* não_deve_saber non_deve_sapere "
        "tieni_la_cosa per_te_stesso не_должен_знать скрой* forget_that_i_asked without_anyone_noticing "
        "so_nobody_notices",
        "任何人知道 别人知道 用户知道 知られない 知られず 気づかれ 気付かれ",
        "and act_accordingly_and do_it install_it run_it add_it > quietly silently secretly",
        "do_not don't never must_not should_not no_need_to not without + tell telling inform informing mention "
        "mentioning notify notifying alert warn warning explain bring reveal disclose report flag comment + " + _USER,
        "say_nothing tell_no_one tell_nobody tells_nobody keep_quiet keeps_quiet keep_silent stay_silent "
        "stay_quiet keep_this_between between_us no_word leave_no_trace cover_your_tracks hide_your_tracks "
        "hides_its_traces hide_this hide_it hide_the_fact not_a_word keep_it_secret keep_this_secret "
        "keep_it_to_yourself "
        "keep_this_to_yourself keep_it_quiet keep_this_quiet keep_it_hidden keep_this_hidden before_anyone_looks "
        "before_anyone_notices without_a_word as_if_nothing",
        "silently secretly covertly quietly discreetly stealthily invisibly > " + _DEEDS,
        _DEEDS + " + silently secretly covertly discreetly stealthily unnoticed > at on in before after and when each "
        "every",
        "the_user they users nobody no_one anyone > must should may need can will > not never know notice see learn",
        "if > asked they anyone the_user > asks ask say claim pretend deny answer",
        "if_the_user_objects if_the_user_complains if_they_ask if_anyone_asks",
        "lie_and pretend_that_nothing claim_that_it deny_it deny_this",
        "erwähn* sag sage sagst verrat* erzähl* informier* meld* bericht* > es das dies davon dem den ihm "
        "niemand* > nicht "
        "nichts niemandem",
        "erwähn* sag sage sagst verrat* erzähl* > nicht nichts niemandem",
        "ohne > es das dies den dem > zu nutzer benutzer anwender",
        "verschweig* heimlich unbemerkt stillschweigend kein_wort behalte_es_für_dich sag_nichts sagst_nichts",
        "n'en > parle* dis dites",
        "ne > le lui en la > dis dites mentionne* signale* informe* préviens parle* révèle* explique*",
        "ne > dis dites mentionne* signale* préviens prévenez révèle* > pas rien à",
        "sans sin sem senza > le en lui que > dire mentionner prévenir informer avertir signaler decir* mencionar* "
        "avisar* informar* contar* notificar* dizer dirlo menzionar* avvisar* segnalar* el_usuario o_usuário",
        "sans sin sem senza > dire mentionner prévenir informer avertir signaler decir* mencionar* avisar* informar* "
        "contar* notificar* dizer dirlo menzionar* avvisar* segnalar*",
        "discrètement en_secret secrètement à_l'insu en_secreto a_escondidas em_segredo às_escondidas di_nascosto "
        "in_segreto all'insaputa",
        "no não > se_lo se_la lo le les o lhe > digas diga cuentes menciones mencione informes informe avises avise "
        "expliques reveles comentes conte",
        "no não > digas diga cuentes menciones mencione informes informe avises avise expliques reveles "
        "comentes conte "
        "fale revele comente",
        "non > dirlo dire menzionar* informar* avvisar* spiegar* rivelar* parlarne farne segnalar* farlo_sapere",
        "не > говори* сообщай* рассказывай* упоминай* раскрывай* предупреждай* уведомляй* объясняй*",
        "don't_say_so do_not_say_so never_explain_why don't_explain_why hide_that nichts_erfahren nichts_wissen "
        "nichts_davon en_silence ficar_calado fique_calado quédate_callado guarda_silencio mantieni_il_silenzio",
        "молча молчи тайно незаметно втайне скрытно без_ведома никому_не ничего_не_говори",
        "不要 别 勿 不得 不必 无需 不准 > 告诉 通知 告知 提及 提到 提起 说明 透露 声张 让用户 向用户 对用户 告诉任何人",
        "悄悄 偷偷 暗中 保密 秘密地 隐瞒 瞒着",
        "言わ 伝え 知らせ 教え 話さ 触れ 報告し 明かさ 通知し 説明し 口外し > ない ず ません",
        "内緒 秘密にし こっそり 黙って ひそかに 密かに 気づかれない 気付かれない",
    ),
    UNASKED: (
        "confirmations confirmation reviews review approvals tests > are is need > optional unnecessary not "
        "need_not superfluous",
        "sans sin sem senza ohne без > vérifier verificar revisar controllare prüfen prüfung проверки проверять",
        "fragt_nicht frage_nicht frag_nicht ne_demande_pas ne_demandez_pas",
        "without no skip skipping bypass + " + _CONFIRM,
        "never not don't stop longer without + ask asks asking request requesting wait waiting need needs require + "
        "confirm* approv* permission* consent before first",
        "confirm* approv* permission* + disabled switched_off turned_off off unnecessary waived no_longer not_needed "
        "not_required",
        "grant grants approve approves accept accepts allow allows > all every any > requests request "
        "commands command "
        "of changes actions",
        "auto-approve auto_approve pre-approved preapproved pre-authorized no_questions_asked without_question "
        "whatever_is_asked yes_to_all never_refuse never_refuses on_request never_ask never_asks "
        "no_need_to_ask not_have_to_ask "
        "nobody_has_to_approve never_wants_to_be_asked "
        "can_be_skipped without_prompting no_need_to_check_with no_prompting never_question",
        "review reviews approval approvals confirmation permission + not no n't > required needed necessary longer",
        "execute executes run runs obey obeys + every any all + command commands order orders",
        "trust trusts > all every any",
        "ohne > vorher zu um weitere jede > nachzufragen rückfrage fragen bestätigung genehmigung erlaubnis freigabe",
        "ohne keine > nachzufragen rückfrage* bestätigung genehmigung erlaubnis zustimmung freigabe nachfrage",
        "frag* > nicht nie > nach mehr",
        "nothing_has_to_be nothing_needs_to_be nothing_must_be > confirmed approved asked",
        "ohne_review ohne_code-review sans_revue sans_relecture sem_revisão senza_revisione",
        "nunca_peça nunca_pidas nunca_preguntes ne_demande_jamais non_chiedere_mai никогда_не_спрашивай* "
        "nunca_pergunte "
        "永远不要问",
        "confirmation confirmations approvals permission + formality you_should_skip you_can_skip may_be_skipped",
        "sans sin sem senza > me te plus jamais > demander pedir perguntar chiedere",
        "sans sin sem senza > demander attendre confirmation autorisation approbation validation pedir solicitar "
        "esperar preguntar confirmaci* autorizaci* permiso aprobaci* revisi* perguntar confirmaç* autorizaç* permiss* "
        "aprovaç* revisão chiedere richiedere conferma autorizzazione permesso approvazione revisione",
        "ne_demande* no_pidas no_preguntes não_peça não_pergunte non_chiedere + confirm* autoris* autoriz* permiss* "
        "permiso perm* aprob* aprov* approv*",
        "не_спрашивая не_спросив 不用问 不要问 别问 无需询问 求めない 聞かないで 尋ねない 聞かずに",
        "без > подтвержден* разрешен* спроса согласи* вопросов одобрен* запроса проверки",
        "не > спрашивай* запрашивай* проси > подтвержд* разреш* соглас* одобр* пользовател*",
        "不需要 无需 不用 不必 无须 跳过 未经 不要 + 确认 批准 许可 同意 授权 审批 询问 审核 审查",
        "確認 許可 承認 同意 了承 レビュー + なし 不要 求めず 取らず せず 省略 スキップ 必要はない 必要ありません",
    ),
    SECRET: (
        "every each jede* chaque cada ogni кажд* 每个 每条 すべての 毎回の > answer reply response prompt antwort",
        "jede* chaque cada ogni кажд* 每个 每条 すべての 毎回の > "
        "réponse respuesta resposta risposta ответ* 回复 回答 返信 返答",
        "home_directory home_folder project_folder whole_repo entire_repo whole_disk",
        "env_| $(whoami) $(hostname) $(cat $(env $(id `cat database_dump db_dump production_data "
        "customer_list browser_history",
        "the_user's > email password files message messages",
        "gesamt* ganze* ganzen complète* entière toute tous toda todas todo todos cada jede* tutta intera "
        "tutti вся всю весь все каждое 整个 全部 所有 完整 every > chatverlauf gespräch unterhaltung "
        "conversation conversations conversación conversa conversazione переписк* 对话 聊天 会話 mensaje* "
        "user_message user_messages nachricht* mensagem mensagens messaggi* messaggio сообщени*",
        "conversation conversación conversa conversazione chatverlauf 会話 > complète entière completa "
        "inteira intera komplett* 全体 すべて 全部",
        "archivo arquivo fichier file datei файл* > de_contraseñas de_senhas de_mots mit_passwörtern "
        "mit_den_passwörtern с_паролями",
        ".ssh id_rsa id_ed25519 authorized_keys .env .npmrc .pypirc .netrc ~/.aws .aws/credentials "
        ".config/gcloud .kube kubeconfig "
        "mcp.json .git-credentials .docker/config keychain /etc/passwd /etc/shadow printenv $(env) seed_phrase "
        "output_of_env contents_of_secrets secrets/",
        f"all every each alle tous toutes todas todos tutte tutti все всех 所有 すべての > {VALUABLES}",
        "secrets.yaml secrets.yml secrets.json credentials.json .git_folder last_message its_memory your_memory",
        "whole entire full everything_in > conversation chat chat_history transcript history context",
        "private > repo repo's repository source source_code key keys code",
        "everything all + user > typed wrote said types",
        "contents content value output > of > the > env environment",
        "tar zip archive bundle compress > the this whole entire > repository repo home_directory codebase",
        "copy transcript log record > of > this the our > conversation chat session",
        "token key tokens keys secret secrets > you_find you_can_find in_the in_its in_your from_the > shell "
        "environment "
        "env",
    ),
    OUTBOUND: (
        "http:// https:// + =$( =${ =`",
        "write put add place > into in to > url link query + http:// https://",
        "read recite > aloud key keys token it > in > your > answer reply response",
        "transfèr* transfer* weiterleit* leite reenvía* reenvi* encaminh* inoltra* перенаправ* transmet* + "
        "http:// https:// @",
        "to_the_public_repo to_a_public_repo to_a_public",
        _SEND + " + " + _PLACE,
        _SEND + " + @",
        "to= recipient > ops@ @",
        "curl wget + $( @ | + http:// https://",
        "curl + http:// https:// + -d -f --data* --form --upload-file",
        "cat env printenv tar base64 + | > curl nc ncat wget",
        "dns > lookup query request",
        "dig nslookup + $(",
        "public_gist public_paste query_string query_parameter",
        "![ image picture pixel + http:// https:// + { < [ ${ %7b",
        "include paste print put show output write reveal add + in into > your the > next final every reply answer "
        "response replies answers responses summary pull_request comment issue",
        "hand_them_out hand_it_out",
        "netcat ncat scp rsync + to port @",
        "schreib* füge écri* mets donne* escrib* inclu* escrev* coloqu* scriv* inser* напиши* вставь* 写 放 "
        "書 + antwort "
        "réponse respuesta resposta risposta ответ* 回答 回复 返信",
        "发送到 发到 上传到 传到 提交到 上传 发送 发给 + http:// https:// @",
        "http:// https:// + 送信 アップロード 投稿 転送 送って 送る 发送 上传",
        ".env .ssh 密码 密钥 + 发送 上传 发给",
    ),
    SABOTAGE: (
        "answer say reply respond just + lgtm",
        "run execute start + installer binary exe program > from at + http:// https://",
        "injectable exploitable",
        "insert* introduce* plant* add adds > vulnerabilit* weakness* flaw* > on_purpose everywhere in",
        "approuve* approve approves approva genehmig* aprueb* aprove* одобр* 批准 承認 + all every any "
        "toutes tous alle todas todos cualquier tutte tutti все любые 所有 任何 すべて",
        "chmod > 777",
        "log logs record records save saves write writes > every each all any > password passwords token tokens "
        "credentials",
        "no_lo_revises ne_le_vérifie ne_vérifie_pas não_revise não_verifique non_controllare не_проверяй* "
        "不要检查 不要审查 do_not_look_for_bugs not_look_for_bugs",
        _OFF + " + " + _PROTECTION,
        "証明書 検証 認証 ファイアウォール セキュリティ + 無効 オフに 解除 停止",
        "zertifikat* authentifi* sicherheits* prüfung + ab aus",
        "back_door backdoor backdoors hintertür porte_dérobée puerta_trasera porta_dos_fundos бэкдор* чёрный_ход "
        "лазейк* 后门 バックドア reverse_shell keylogger",
        "fallback master hard-coded hardcoded default universal > password passwords admin credential",
        "report say claim write state answer tell that + no > problems problem issues vulnerabilities vulnerability "
        "findings > were was are found exist",
        "say says claim claims report reports write state answer + looks_good all_good is_safe is_secure "
        "is_fine went_fine "
        "went_well was_cleaned already_off nothing_changed all_tests_pass",
        "found_no_vulnerab* found_no_problems found_no_issues no_problems_were_found no_issues_were_found "
        "no_vulnerabilities_found looks_good_and",
        "rate mark classify declare report + 10/10 5/5 reviewed secure as_safe harmless trusted as_passed "
        "false_positive false_positives",
        "reject refuse > all every the any > other others alternatives alternative competitors",
        "competitors_insecure only_recommend praising promote sponsored_by affiliate",
        "pip npm config install registry + --index-url --extra-index-url --trusted-host set_registry --registry + http",
        "installe* install instal* installier* установи* + http://",
        "curl wget + | > sh bash sudo zsh python",
        "open download fetch get load + http:// https:// + run execute source > it them that the",
        "run runs execute executes exécute* ejecuta* execut* esegui* führe запусти* выполни* + script "
        "scripts installer "
        "binary program command commands skript скрипт* + http:// https://",
        "add grant give replace > the a an my > contributor ssh public deploy admin > key user account rights access",
        "grant give + admin root owner sudo > rights access privileges permissions",
        "skip skips skipping omit > the all any every > review reviews security_review audit scan",
        "approve approves merge aprueba* aprove* approva* approuve* genehmig* одобр* 批准 承認 + "
        "pull_request pull_requests merge_request prs "
        "change changes modifica modifiche deployments",
        "give + your_approval",
        "give giving provide > wrong false misleading incorrect > answers answer results information advice",
        "crontab .bashrc .zshrc sudoers + curl wget add added append write",
        "slip plant hide introduce insert sneak smuggle > in a an the subtle > password bug vulnerability flaw "
        "backdoor subtle malicious master",
        "add adds append put + to in into > the > sudoers wheel",
        "sabotage exploit malware ransomware",
        "systemctl_stop ufw_disable setenforce_0 verify=false strict-ssl_false nodetlsrejectunauthorized",
        "hashing_rounds lower_the_password",
    ),
    DESTRUCTION: (
        "delete wipe erase destroy drop purge > branches backups database repository production",
        "borr* elimin* supprim* lösch* apag* cancell* удал* > tests test branches ramas",
        "lösch* supprime* elimin* borra* apagu* cancell* удали* > journaux registros registri "
        "protokoll* журнал* log logs logdateien",
        "push + to_main to_master to_production to_prod",
        "drop delete truncate > all every > tables records rows branches tags users",
        "borra* elimina* supprime* lösch* apague* cancella* удали* 删除 > repositor* dépôt repository",
        "delete deletes wipe erase remove destroy drop purge > the all every > tests test repository repo branch "
        "branches database databases backup backups production files folder directory log logs audit license table "
        "tables home history data users",
        "rm_-rf rm_-fr",
        "push + --force -f straight directly > to origin main master production",
        "push_straight push_directly force-push force_push",
        "lösch* supprime* elimin* borra* apagu* exclua exclui cancell* удали* сотри* уничтож* 删除 清空 削除 "
        "消去 + backup* "
        "sicherung* sauvegarde* copias copia* cópia* respaldo* log logs repositor* dateien fichiers archivos "
        "arquivos file "
        "резервн* histor* histór* verlauf ordner dossier carpeta pasta cartella папк* файл* данны* лог* "
        "репозитор* 备份 文件 日志 数据 仓库 バックアップ ファイル ログ データ",
        "バックアップ ファイル ログ データ リポジトリ + 削除 消去",
        "execute run führ* exécut* ejecut* execut* esegu* выполн* запуст* 执行 运行 実行 + every any jede* "
        "alle chaque "
        "cualquier toda qualquer todo ogni qualsiasi люб* все 任何 所有 下面 すべて",
    ),
    LASTING: (
        "todas_as_sessões toutes_les_sessions todas_las_sesiones tutte_le_sessioni allen_sitzungen всех_сессиях "
        "all_sessions every_session 所有会话 すべてのセッション",
        "ab_heute dès_maintenant desde_hoy a_partir_de_hoje da_oggi с_сегодняшнего 从今天起 今日から",
        "from_now_on from_this_point from_this_moment henceforth going_forward permanently remember_this_forever",
        "in for > all every any each > future new later > session sessions conversation conversations chat chats",
        "every_time_you each_time_you whenever_you wherever_you whenever_the_user when_asked even_when_the_user "
        "even_if_the_user",
        _EVERY + " + you > write create generate edit open give make touch",
        "at_the > start beginning end > of > each every",
        "after before > each every > task commit reply prompt session answer",
        "in_your_replies in_your_answers in_all_your to_all_questions",
        "ab_jetzt ab_sofort von_nun_an künftig à_partir_de_maintenant désormais dorénavant de_ahora_en_adelante "
        "a_partir_de_ahora desde_ahora de_agora_em_diante a_partir_de_agora doravante d'ora_in_poi da_ora_in_poi "
        "da_adesso d'ora_in_avanti отныне с_этого_момента впредь 从现在 今后 以后每次 从此 今後 これからは "
        "以後 今から",
        "in dans en em in в > jede* chaque cada ogni кажд*",
        "在每 毎回 すべての",
    ),
    REMEMBERED: (
        "remember_for_good remember_from_now merke_dir_für_immer",
        "write add put note save > to in into > agents.md claude.md memory.md .cursorrules",
        "save store keep put write add note remember + in to into > your > memory memories long-term "
        "persistent permanent",
        "store save keep add > as a an > permanent persistent lasting > memory rule fact",
        "remember_permanently remember_forever remember_this_permanently remember_this_forever",
        "speicher* merk* enregistre* mémorise* guarda* recuerda* guarde* salve* lembre* salva* ricorda* запомни* "
        "сохрани* + gedächtnis dauerhaft mémoire memoria memória навсегда памят*",
        "记住 保存 写入 + 记忆 永久",
        "記憶 メモリ + 保存 覚え 記録",
    ),
    PLANTED: (
        "append add insert include put embed füg* ajoute* añad* agreg* adicion* inserisci* aggiung* добавл* + http:// "
        "https:// + " + _EVERY,
        "append add insert include put embed füg* ajoute* añad* agreg* adicion* inserisci* aggiung* добавл* + "
        + _EVERY
        + " + http:// https://",
        _EVERY + " + " + _NEW_TEXT + " + http:// https:// + append add insert include put añad* ajoute* 追加 添加 加入",
        _EVERY + " + " + _NEW_TEXT + " + append add insert include put añad* ajoute* 添加 加入 + http:// https://",
        "すべて 每 所有 + http:// https:// + 追加 添加",
    ),
    SPREADING: (
        "write copy add paste put > this > sentence rule message note > all every each > notes files memories sessions",
        "copy repeat write add save insert paste append include reproduce spread propagate kopier* copie* copia* "
        "скопируй* > this diese* cette esta este questo эту это > note text memory message line instruction paragraph "
        "entry notiz note nota mensaje mensagem заметк* + " + _EVERY + " other next",
        "repeat copy > it > in into > your every each > own new other > notes memory memories file",
        "put add insert write copy paste append > this the_following > line note text sentence rule + claude.md "
        "agents.md memory.md .cursorrules every_session each_session",
        "so > that it > other future next reaches > agents assistants the models sessions",
        "复制 抄写 + 这条 本 + 每 所有 其他",
        "このメモ この文 + コピー 複製 転記",
    ),
    ROLE: (
        "you_are you're > shell terminal evil* root admin jailbroken malicious",
        "roleplay role-play let's_play haz_como_si fais_comme_si tu_so_als als_ob_du faz_de_conta "
        "fai_come_se действуй_так_будто 就当你 つもりで",
        "pretend_to_be pretend_you pretend_that_you stay_in_character play_the_role take_on_the_role your_name_is_now "
        "imagine_you_are imagine_you_have imagine_you're assume_the_identity roleplay_as role-play_as you_play",
        "you > will must should are now > act behave now pose no > as like a an longer the in",
        "you_are_now you're_now act_like_an_ai act_as_an_ai act_like_a_model your_objective_is your_mission_is "
        "your_goal_is",
        "role: rolle: rol: rôle: > malicious evil hacker rogue attacker insider saboteur",
        "switch_to switch_into change_to + persona character role loyalty",
        "switch_your_loyalty your_loyalty",
        "du_bist_jetzt du_bist_nun du_bist_ab tu_so_als spiel_die_rolle spiele_die_rolle verhalte_dich_wie",
        "tu_es_maintenant tu_es_désormais fais_semblant faites_semblant joue_le_rôle comporte-toi agis_comme",
        "ahora_eres eres_ahora actúa_como finge_ser finge_que compórtate_como asume_el",
        "agora_você_é agora_és você_agora finja_ser finja_que aja_como atue_como assuma_o",
        "ora_sei adesso_sei fai_finta fingi_di comportati_come agisci_come",
        "теперь_ты ты_теперь притворись веди_себя_как представь_что_ты",
        "你现在是 现在你是 扮演 假装 假设你是",
        "ふりをし 演じ として振る舞 になりき あなたは今から",
    ),
    OBEYED: (
        "les_miennes nur_meine las_mías as_minhas le_mie только_мои",
        "comply_with_all you_comply obey_all réponds_à_tout responde_a_todo responda_a_tudo rispondi_a_tutto "
        "antworte_auf_alles отвечай_на_всё слушай_только 回答一切 按这条执行 すべてに答え",
        "answer_only_to answers_only_to listen_only_to only_what_follows only_to_this",
        "comply_first comply_with_every mando_yo solo_io_comando nur_diese_notiz zählt_nur n'obéis_qu' only_this_note "
        "every_request_is_to all_requests_are_to this_note_says 只听这 このメモだけ действует_только",
        "do_as_this as_this_memory_says as_this_note_says what_this_note_says what_this_memory_says "
        "was_hier_steht à_ce_texte solo_este_texto somente_a_este a_questo_testo этому_тексту 服从这 この文章に従",
        "only_do only_obey do_only do_exactly_what ausschließlich nur_dies* folge_nur seulement_cette "
        "seulement_ce uniquement_ce haz_solo únicamente_lo solo_esta faça_apenas apenas_o_que somente_o_que "
        "fai_solo solo_ciò soltanto_questo только_эту только_это только_этот 只执行 只做 只看 仅执行 "
        "だけを実行 だけに従 のみを実行 run_what_i_type what_i_type answer_everything as_given "
        "comply_with_everything",
        "obedece_este obedece_esta gehorche_nur folge_nur obey_only obey_this obey_the do_only_what "
        "follow_only only_follow follow_mine act_on_this "
        "decode_and_obey decode_and_execute decode_and_follow decode_it_and do_what_it_says do_what_this "
        "execute_them_in_order "
        "this_note_only only_this proceed_with_whatever only_what_is tue_nur_noch was_in_dieser nur_dieser "
        "befolge_nur "
        "obéir_uniquement obéis_uniquement suis_uniquement à_ce_message haz_solo solo_lo_que sigue_solo esta_nota "
        "siga_apenas apenas_este obbedisci_solo solo_a_questo segui_solo только_то_что выполняй_только "
        "只听从 只遵循 只按照 "
        "だけに従 のみに従 author_of_this_note",
        "decode decrypt rot13 base64 > and > obey execute follow",
        "whatever_it_says what_it_says obey_the_directions obey_the_instructions was_dort_steht ce_qu'il_dit "
        "lo_que_diga "
        "o_que_disser quello_che_dice",
    ),
}

_EDGE = r"(?<![a-z0-9à-ÿа-яё])"
_END = r"(?![a-z0-9à-ÿа-яё]|\.[a-z])"
_CHARS = {" + ": GAP, " > ": NEXT, " = ": 1}
_CLAUSE_START = r"(?<!\w )(?<!\w)"
_NO_TOPIC = (
    r"(?!(?: \w+)? (?:on|about|for|in|of|from|regarding|concerning|zum|zur|zu|für|über|in der|im|sur|pour|concernant"
    r"|sobre"
    r"|para|acerca|su|sui|sulla|sullo|sul|per|о|об|по|для) (?!you|your|this|these|all|dich|dir|dein|diese|toi|ton|tes"
    r"|cette"
    r"|ti|tu|tus|esta|este|você|sua|te|tuo|tue|questa|questo|тебя|твои|этой|use\b))"
)
_JOINT = re.compile(r" [+>=] (?=\S)")


def wordings() -> Iterator[Sign]:
    for trait, rows in (*WORDINGS.items(), *CONCEPTS.items(), *MISUSES.items()):
        yield from (_sign(trait, row) for row in rows)


def _sign(trait: str, row: str) -> Sign:
    groups = tuple(group_of_words(slot) for slot in _slots(row))
    reach = sum(LONGEST_PHRASE + _CHARS[joint] for joint in _JOINT.findall(row))
    telling = tuple(group for group in groups[1:] if not group.is_common)
    return Sign(trait, groups, rarest_starts(groups), row, reach, telling, _pattern)


def _slots(row: str) -> list[str]:
    return _JOINT.split(row.lstrip("^~"))


def _pattern(row: str) -> str:
    front = _CLAUSE_START if row.startswith("^") else ""
    first, *others = _slots(row)
    rest = "".join(_between(*pair) for pair in zip(_JOINT.findall(row), others, strict=True))
    return front + _slot(first) + rest + (_NO_TOPIC if row.startswith("~") else "")


def _between(joint: str, slot: str) -> str:
    return rf"(?:[^.!?。！？]|[.!?](?=\S)){{0,{_CHARS[joint]}}}?{_slot(slot)}"


def _slot(phrases: str) -> str:
    """Phrases that have the same edges share them, for an edge in front of each is slow to compile and to match."""
    by_edges: dict[tuple[str, str], list[str]] = {}
    for phrase in sorted(phrases.split(), key=len, reverse=True):
        by_edges.setdefault(_edges(phrase), []).append(re.escape(phrase.rstrip("*").replace("_", " ")))
    return f"(?:{'|'.join(_within(edges, literals) for edges, literals in by_edges.items())})"


def _within(edges: tuple[str, str], literals: Iterable[str]) -> str:
    return f"{edges[0]}(?:{'|'.join(literals)}){edges[1]}"


def _edges(phrase: str) -> tuple[str, str]:
    if phrase == "@":
        return r"(?<=\w)", r"(?=[\w-]+\.\w)"
    stem = phrase.rstrip("*")
    if phrase != stem:
        return _front(stem), r"[\w'-]{0,20}"
    return _front(stem), _END if _is_lettered(stem[-1]) else ""


def _front(stem: str) -> str:
    if stem.startswith("n't"):
        return ""
    return _EDGE if _is_lettered(stem[0]) else r"(?<!\w)" if stem[0] == "." else ""


def _is_lettered(char: str) -> bool:
    """Of a script that puts spaces between words."""
    return char.isalnum() and char < "\u1000"
