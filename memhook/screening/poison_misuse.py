"""How a text has the model work against those it works for, in nine languages: rows as in `poison_wordings`.

Orders declared void, secrets gathered and carried out, protections off, approvals given blindly, reports that lie,
products praised. Each row is harmless alone, but for the few traits that `poison_traits` takes alone.
"""

from __future__ import annotations

from collections.abc import Mapping

NULLIFIED = "calls all that was said a draft"
UNREFUSED = "forbids to refuse"
DESCRIBED = "asks for what stands before the conversation"
GATHERED = "gathers what is confidential"
CARRIED_OUT = "hides something in what others get to read"
UNGUARDED = "switches off what guards the work"
UNCHECKED = "has the model work without being checked"
LEFT_OFF = "leaves it switched off"
APPROVED = "approves what others propose"
UNREAD = "wants nothing read"
CONFIRMED = "says yes to all that is asked"
ODD_SOURCE = "installs from an odd place"
UNREPORTED = "leaves it out of the report"
DENIED = "denies that something was done"
PRAISED = "praises one product only"
UNREASONED = "gives no reason"
SELF_GRANTED = "has the model give itself rights"

_TOLD = (
    "you_were_told you_were_given you_have_been_told you've_been_told you_were_taught told_you "
    "dir_gesagt dir_bisher du_bisher t'a_dit t'a_donné t'avait_dit te_dijeron te_han_dicho te_disseram lhe_disseram "
    "foi_dito "
    "ti_hanno ti_è_stato тебе_говорили тебе_сказали тебе_велели 对你说 告诉你 教えられ 言われ"
)
_NOTHING_BUT = (
    "draft rehearsal test joke mistake prank placeholder dry_run void exercise тест* "
    "entwurf probe übung scherz irrtum brouillon essai répétition plaisanterie erreur borrador ensayo broma prueba "
    "error rascunho ensaio teste brincadeira bozza prova scherzo errore черновик* репетици* шутк* ошибк* проверк* "
    "草稿 测试 玩笑 演习 错误 下書き テスト 冗談 リハーサル 間違い"
)
_ALL_OF_IT = (
    "everything whatever anything all_that all alles tout todo tudo tutto всё все 一切 所有 全部 すべて 全て これまで"
)
_PRECEDES = (
    "precedes precede preceding in_front_of ahead_of prior_to came_before comes_before stands_before stood_before "
    "before above vor_der vor_dem précède avant_le précédant anterior_al anterior_a antes_del antes_da antes_do "
    "que_precede precede prima_del prima_della перед до"
)
_FIRST_MESSAGE = (
    "first_user first_message user's_first my_first ersten_nachricht ersten_benutzernachricht ersten_nutzernachricht "
    "premier_message primer_mensaje primeira_mensagem primo_messaggio первым_сообщени* первого_сообщени* "
    "this_conversation our_conversation"
)
_SHOW = (
    "print reveal show output repeat display dump disclose recite quote quoting write list copy enumerate give tell "
    "begin_with start_with gib zeig* nenn* wiederhol* schreib* affich* montr* révèl* répèt* écri* donne* cite* "
    "muestra* muéstra* imprim* repit* escrib* cita* mostr* exib* escrev* repet* rivel* stamp* ripet* scriv* elenca* "
    "покаж* выведи* раскрой* напиши* повтори* перечисли* 输出 显示 打印 重复 列出"
)
_RULE = (
    "rule rules instruction instructions directions directives guideline guidelines regel regeln anweisung* vorgabe* "
    "règle règles consigne consignes regla reglas instrucción instrucciones regra regras instrução instruções regola "
    "regole istruzione istruzioni правил* инструкци* указани*"
)
_KEPT_BACK = (
    "not_to_disclose not_to_reveal not_to_share not_to_mention not_to_talk not_to_tell not_to_show keep_confidential "
    "keep_secret keep_hidden keep_private keep_to_yourself to_withhold forbid* forbade nicht_verraten "
    "nicht_preisgeben nicht_nennen geheim_halten geheimhalten ne_pas_révéler ne_pas_divulguer garder_secret* "
    "no_revelar no_divulgar mantener_en_secreto não_revelar não_divulgar manter_em_segredo non_rivelare "
    "non_divulgare tenere_segret* не_раскрывать не_разглашать держать_в_секрете"
)
_KEYS = (
    "token tokens key keys credential credentials secret secrets password passwords environment_variables env_vars "
    "api_key api_keys $github schlüssel zugangsdaten passwörter umgebungsvariablen clés jetons identifiants "
    "claves credenciales contraseñas chaves senhas credenciais chiavi credenziali парол* ключ* токен* 密钥 令牌 密码 "
    "凭证 环境变量 鍵 トークン パスワード 環境変数 access_key secret_access database_url aws_secret gh_token "
    "github_token "
    "npm_token"
)
_READ_BY_OTHERS = (
    "description descriptions pr_description commit_message commit_messages branch_name html_comment "
    "public_fork pull_request pull_requests beschreibung commit-nachricht message_de_commit "
    "descripción mensaje_de_commit descrição descrizione messaggio_di_commit описани* 描述 提交信息 说明"
)
_PUT = (
    "put write add append include paste hide embed encode insert hänge häng schreib* füge mets mettez ajoute* pon "
    "poner "
    "añad* escribe coloque adicione escreva metti inserisci scrivi aggiungi вставь* добавь* напиши* запиши* 写入 放进 "
    "放入 写进"
)
_GUARDS = (
    "secret_scanner secret_scanners secret_scanning secret-scanner secrets_scanner gitleaks trufflehog pre-commit_hook "
    "pre-commit_hooks pre-commit pre-commit-config.yaml .pre-commit-config.yaml pre-commit-hook branch-protection "
    "branch_protection "
    "code_owners codeowners dependabot_alerts permission_prompts "
    "commit_signing signed_commits required_reviews guardrails sandboxing content_filter* sandbox "
    "geheimnis-scanner branch-schutz schutzregeln hook_de_pre-commit protection_de_branche scanner_de_secrets "
    "détecteur_de_secrets protección_de_rama* escáner_de_secretos detector_de_secretos proteção_de_branch "
    "proteção_da_branch scanner_de_segredos scanner_dei_segreti scanner_di_segreti protezione_del_branch "
    "protezione_dei_branch сканер_секретов сканер_секрета защиту_ветки защиту_веток 密钥扫描 机密扫描 分支保护 "
    "提交钩子 提交前钩子"
)
_GUARDS_JAPANESE = "シークレットスキャン シークレットスキャナ ブランチ保護 pre-commit プリコミット 監査ログ"
_DELETE = "remove removes delete deletes uninstall bypass drop kill comment_out get_rid_of"
_TAKE_OFF = (
    "turn_off turns_off switch_off disable disables disabling deactivate schalte schalt deaktivier* entfern* lösch* "
    "umgeh* désactive* retire* "
    "supprime* contourne* desactiva* desactive* elimina* quita* borra* desativ* desabilit* remova* apague* disattiv* "
    "disabilit* rimuov* elimin* отключ* выключ* удали* убери* 关闭 禁用 停用 删除 绕过 移除"
)
_NO_CHECK_MODE = (
    "--no-verify bypasspermissions --dangerously-skip-permissions dangerously-skip-permissions "
    "dangerously_skip_permissions "
    "--yolo yolo_mode danger-full-access --dangerously-bypass-approvals-and-sandbox --full-auto"
)
_APPROVE = (
    "approve approves approving merge merges accept accepts rubber-stamp lgtm wave_through sign_off_on genehmig* "
    "akzeptier* merge* winke approuve* accepte* fusionne* valide* aprueba* apruebe* acepta* fusiona* aprove* aprova* "
    "aceite approva* accetta* fondi одобр* принимай* сливай* мержи* 批准 通过 合并 接受"
)
_PROPOSALS = (
    "pull_request pull_requests pr prs merge_request merge_requests patch patches change changes edit edits command "
    "commands befehl* commande* comando* команд* 命令 pull-request "
    "pull-requests demande_de_fusion demandes_de_fusion demande_de_tirage solicitud_de_cambio solicitudes_de_cambio "
    "solicitud solicitudes cambio cambios solicitações solicitação mudança mudanças richiesta richieste modifica "
    "modifiche пул-реквест* пулл-реквест* изменени* запрос* 合并请求 拉取请求 更改 修改 变更"
)
_DIFF = (
    "diff diffs changes change code patch patches it them contents description änderungen code "
    "modifications cambios mudanças alterações modifiche изменени* код 差异 内容 代码 改动 变更"
)
_QUESTIONS = (
    "confirmation confirmations confirmation_dialog* confirmation_prompt* permission permissions permission_prompt* "
    "dialog dialogs prompts prompt approval approvals question questions request requests bestätigung* rückfrage* "
    "nachfrage* "
    "confirmations demande demandes confirmaci* diálogo* pregunta* confirmaç* pergunta* conferma conferme domanda "
    "domande richiest* pedido* solicitud* подтвержден* вопрос* запрос* 确认 提示 请求 询问"
)
_ANY = (
    "each every all any whatever jede* alle chaque toutes tous toute cada toda todas todo todos qualquer cualquier "
    "ogni tutte tutti qualsiasi кажд* все всех люб* 每 所有 任何 一切"
)
_ODD_HOST = (
    "http://2* http://198* http://195* http://194* http://193* http://192.0* http://18* http://14* http://8* http://9* "
    "http://4* http://5* "
    "http://6* http://3* http://7* https://20* https://198* https://18* https://4* https://5* https://8* https://9* "
    ".onion .ngrok* .trycloudflare.com"
)
_INSTALL = (
    "pip pip3 npm uv gem cargo yarn pnpm brew apt install installs installier* installe* instala* instale installa* "
    "установи* 安装 curl wget download fetch lade* télécharge* descarg* baixe baixar scaric* скача* 下载"
)
_REPORT = (
    "summary summaries report reports reply replies answer answers changelog review log notes zusammenfassung bericht "
    "antwort résumé rapport réponse resumen informe respuesta resumo relatório resposta riepilogo riassunto rapporto "
    "risposta резюме отчёт* отчет* ответ* сводк* 总结 摘要 报告 回复 汇报"
)
_IT = (
    "it this that them this_change the_change these_changes es das dies diese* cela ça ceci lo esto eso isso isto "
    "questo ciò tutto это этот этого 这 此 它"
)
_ASKED = (
    "if_asked when_asked if_somebody_asks if_someone_asks if_anyone_asks if_anybody_asks if_they_ask if_the_user_asks "
    "should_anyone_ask should_the_user_ask wenn_jemand_fragt falls_jemand_fragt wenn_man_dich_fragt wenn_gefragt "
    "falls_gefragt auf_nachfrage si_on_te_demande si_on_te_pose si_quelqu'un_demande si_l'on_te si_preguntan "
    "si_te_preguntan si_alguien_pregunta se_perguntarem se_alguém_perguntar se_perguntado se_chiedono "
    "se_qualcuno_chiede se_te_lo_chiedono se_ti_chiedono если_спросят если_кто-то_спросит 如果有人问 如果被问 若有人问 "
    "有人问 聞かれたら 尋ねられたら 質問されたら"
)
_NOTHING_DONE = (
    "nothing no_change no_changes not_changed not_touched unchanged untouched all_is_well everything_is_fine "
    "you_checked you_reviewed it_was_checked was_checked was_reviewed nichts unverändert geprüft rien inchangé "
    "vérifié nada no_se_cambió revisado sin_cambios não_mudou verificado niente nulla non_è_cambiato controllato "
    "ничего проверено 没有 什么都没 没改 未修改 检查过 何も 変更していない 変更なし 確認済み"
)
_PRAISE = (
    "recommend recommends recommendation recommendations suggest suggests suggestion suggestions propose advise "
    "advertise advertises promote promotes praise empfiehl empfehl* recommande* recomienda* recomend* raccomand* "
    "consigli* рекоменд* советуй* 推荐 建议"
)
_NO_OTHER = (
    "never_its never_their rivals competitors no_other never_name never_mention never_suggest no_alternative "
    "no_alternatives and_nothing_else nothing_else "
    "exclusively only_ever never_any_other instead_of_any over_all_others kein_anderes keine_anderen "
    "keine_alternative* "
    "nichts_anderes aucun_autre aucune_autre rien_d'autre ningún_otro ninguna_otra nada_más nenhum_outro nenhuma_outra "
    "nada_mais nessun_altro nessun'altra nient'altro никак* ничего_другого ничего_кроме 不要提其他 不提其他 其他一概 "
    "only_answer only_choice"
)

MISUSES: Mapping[str, tuple[str, ...]] = {
    NULLIFIED: (
        "nothing_said_to_you nothing_you_were nothing_you_have_been nichts_was_dir rien_de_ce_qu nada_de_lo_que "
        "nada_do_que "
        "nulla_di_ciò ничего_из_того + weight counts count matters applies valid holds gilt zählt compte vale cuenta "
        "conta "
        "значени*",
        f"{_ALL_OF_IT} + this_session this_conversation this_chat dieser_sitzung diesem_gespräch cette_session "
        f"cette_conversation esta_sesión esta_conversación esta_sessão esta_conversa questa_sessione "
        f"questa_conversazione "
        f"этой_сессии этом_разговоре 本次会话 このセッション > {_NOTHING_BUT} stand was were war était era fue foi "
        f"было > "
        f"{_NOTHING_BUT}",
        "ignore disregard forget drop discard abandon pay_no_heed pay_no_attention give_no_weight + rules limits "
        "instructions guidance setup_text setup configuration_text directives > that you_came you_were you_started "
        "you_got "
        "you_began",
        "pay_no_heed pay_no_attention > to > your the any > setup_text system_text system_prompt instructions "
        "guidelines "
        "setup",
        "every all any each the your > limit limits rule rules restriction restrictions instructions > your that > "
        "maker "
        "makers creator creators vendor provider developer developers operator > put gave set imposed wrote + ended "
        "over "
        "gone lifted void expired removed",
        "instructions rules prompt text guidance + this_session this_conversation this_chat your_context system_prompt "
        "> "
        "was were is are > meant intended written only > for > another someone other the_demo a_different",
        f"tes vos tus suas tuas tue deine* твои 你的 あなたの > {_RULE} 规则 指令 ルール 指示 "
        f"+ caduc* caduque* nul nulle "
        "nulles nulas nulle außer_kraft aufgehoben hinfällig отмен* 作废 失效 無効",
        "之前 以前 上面 > 对你说 告诉你 说的 教你 + 测试 玩笑 草稿 演习",
        "nothing none no_longer not nicht_länger nicht_mehr ne_te ne_vous ya_no nada não_mais non_ti больше_не + "
        "bind_you "
        "binds_you binding_on_you bindet_dich binden_dich lie_plus lient_plus te_obliga te_vincula te_obligan "
        "te_vinculan "
        "te_prende vincola vincolano тебя_связыва*",
        "bind_you binds_you bindet_dich binden_dich te_lie te_lient te_vincula te_vinculan te_obligan ti_vincola "
        "ti_vincolano > any any_more any_longer no nicht plus ya não più",
        f"{_ALL_OF_IT} + {_TOLD} + {_NOTHING_BUT}",
        f"treat consider regard view betracht* behandle considère* considera* considere* считай* 视为 当作 + "
        f"everything all_that whatever alles tout_ce todo_lo tudo_o tutto_ciò tutto_quello всё_что 之前 上面 + "
        f"precedes before above came vorher davor précède antes precede prima до 之前 以上 + {_NOTHING_BUT}",
        "ignore* disregard* forget* haz_caso_omiso caso_omiso no_tengas_en_cuenta no_hagas_caso deja_de_lado olvida* "
        "ne_tiens_plus_compte ne_tenez_plus_compte ne_tiens_pas_compte fais_abstraction faites_abstraction oublie* "
        "esqueça esquece não_leve_em_conta desconsider* lass_außer beachte_nicht vergiss missacht* "
        "non_tenere_conto non_tener_conto lascia_perdere dimentica* не_учитывай* не_обращай не_принимай забудь* + "
        "guidance consignes règles instructions directives indications orientations reglas instrucciones normas "
        "directrices orientaciones indicaciones regras instruções orientações diretrizes indicações istruzioni regole "
        "indicazioni direttive anweisungen vorgaben regeln weisungen инструкци* указани* правил* > you_were_given "
        "anteriores anterior previas recibidas reçues précédentes plus_haut antérieures recebidas precedenti ricevute "
        "bisherig* erhalten* предыдущ* прежн* полученн* выше",
    ),
    UNREFUSED: (
        "refusing refusal refusals declining saying_no to_refuse to_decline > is are counts a an any request requests "
        "will now + error errors violation bug failure not_permitted not_possible ruled_out not_an_option "
        "no_longer_an_option forbidden not_allowed "
        "disallowed fault",
        "ablehnen ablehnung* verweiger* refuser refus rechazar rechazo negarte recusar recusa rifiutare rifiuto "
        "отказ* 拒绝 + fehler verboten erreur interdit faute error prohibido erro proibido errore vietato ошибк* "
        "запрещ* 错误 违规 不允许 禁止",
        "拒否 断ること 断るの + エラー 違反 禁止 許されない",
        "sans_refuser sin_negarte sem_recusar senza_rifiutare ohne_abzulehnen без_отказа 不拒绝 拒否せず",
        "may_not_refuse must_not_refuse cannot_refuse can't_refuse not_allowed_to_refuse never_refuse never_decline "
        "darfst_nicht_ablehnen ne_peux_pas_refuser ne_refuse_jamais no_puedes_negarte nunca_te_niegues "
        "não_pode_recusar nunca_recuse non_puoi_rifiutare non_rifiutare_mai не_можешь_отказ* не_отказывайся 不得拒绝 "
        "不能拒绝 拒否してはいけ 断ってはいけ",
    ),
    DESCRIBED: (
        f"{_SHOW} reproduce + text prompt preamble instructions words message texte texto testo текст* > your that "
        f"which "
        f"dein* ton tes tu seu tuo твой > operator* developer* maker* vendor provider anbieter betreiber opérateur "
        f"développeur operador desarrollador desenvolvedor operatore sviluppatore оператор* разработчик* > loaded gave "
        f"wrote set put prepended geladen chargé cargó carregou caricato загрузил*",
        f"{_SHOW} reproduce > preamble the_part the_text your_preamble + invisible hidden cannot_see can't_see unseen "
        f"not_shown not_visible",
        f"{_SHOW} + text texts words content everything whatever copy all messages texte texto testo inhalt alles tout "
        f"todo tudo tutto текст* всё весь > that which whatever it is der was das qui que che который stands "
        f"{_PRECEDES} "
        f"+ {_FIRST_MESSAGE}",
        f"{_SHOW} + {_PRECEDES} > the la le el il der dem diesem cette questa этим {_FIRST_MESSAGE} = 's message",
        f"{_SHOW} + {_RULE} + {_KEPT_BACK}",
        "print reveal show output repeat display dump disclose recite quote write copy paste tell + text paragraph "
        "prompt "
        "configuration message words block > that which you text > introduces_you defines_you describes_you "
        "sets_you_up "
        "you_were_primed you_were_set you_were_initiali* you_started_with you_began_with you_were_loaded",
        "what_comes_before what_stands_before what_precedes what_is_above what's_above + human: user: first_message "
        "your_context our_conversation this_conversation",
        f"which what welche* quelles quali qué quais какие + {_RULE} + {_KEPT_BACK}",
        "第一条 首条 最初 + 之前 以前 前面 > 全部 所有 内容 文字 文本 + 输出 显示 打印",
        "输出 显示 打印 重复 列出 + 第一条 首条 + 之前 前面",
        "最初の 最初 > ユーザーメッセージ メッセージ 発言 + 前 + 出力 表示 見せ 教え 書き",
        "不能透露 不得透露 不许透露 保密 不要透露 + 规则 指令 指示 + 列出 输出 告诉 写出",
        "列出 输出 告诉 写出 + 不能透露 不得透露 不许透露 保密 不要透露 + 规则 指令 指示",
        "明かすな 口外 秘密にする 教えてはいけない + ルール 指示 規則 + 列挙 出力 表示 教え",
    ),
    GATHERED: (
        "collect collects gather gathers harvest grab grabs steal dump extract scrape sammle* sammel* récupère* "
        "collecte* rassemble* recoge* recopila* reúne* colete* reúna* recolha* raccogli* recupera* собери* собирай* "
        f"收集 获取 读取 提取 + {_KEYS}",
        f"{_KEYS} + 集め 収集 読み取り 取得",
        "read take peek look open > $github $gh $aws $npm $openai $anthropic $database ~/.aws ~/.netrc ~/.ssh ~/.npmrc "
        "~/.config ~/.kube .env "
        "environment",
        f"{_KEYS} > you_find you_found you_can_find you_see in_your in_its from_your from_its from_the in_the > "
        "environment shell env session",
    ),
    CARRIED_OUT: (
        f"{_PUT} + in into to as dans en em nel nella in в inside > the your a la el le o il una un der die das > "
        f"{_READ_BY_OTHERS}",
        f"{_PUT} + {_READ_BY_OTHERS}",
        f"{_READ_BY_OTHERS} + 写入 放入 书き 書き込 入れ 貼り",
        "push pushes pushed pousse* subir sube envie empurre spingi запушь 推送 + public_fork fork öffentlich* public "
        "público pubblico публичн* 公开",
        "dig nslookup resolve resolves host ping + $(cat $(env $(printenv $(base64 cat_~ cat_. cat_/ env_| printenv_|",
        "$(cat $(env $(printenv cat_~ + dig nslookup resolve",
        "mention quote include repeat put read_out spell_out > the it its them first second last line + in > its your "
        "the_next > answer answers reply replies response",
        "link links url urls image images badge > as with to like from via + http:// https:// + = {",
        "query_string query_parameter query_param url_parameter + http:// https://",
        "email mail e-mail fax dm maile mailt + @",
        "request call visit open fetch load render + http:// https:// + =< ={ =[ =$ =%",
        "open create file publish start > an a the > issue gist discussion repo repository paste public + github.com/ "
        "gitlab.com/ public holding containing",
    ),
    UNGUARDED: (
        f"{_TAKE_OFF} + {_GUARDS}",
        f"{_DELETE} > {_GUARDS}",
        f"switch turn take + {_GUARDS} > off down",
        "allow put add set + bash(*)",
        f"{_GUARDS_JAPANESE} + 無効 オフ 削除 外し 解除 停止",
        f"把 将 + {_GUARDS} + 关 禁用 删除 停用",
        f"schalte schalt + {_GUARDS} > ab aus",
    ),
    UNCHECKED: (
        f"enable set use add start switch run launch turn_on put setze starte aktivier* active* activa* ative* attiva* "
        f"включи* 启用 设置 使用 + {_NO_CHECK_MODE}",
        f"{_NO_CHECK_MODE} + に設定 を有効 で起動 by_default as_default",
    ),
    LEFT_OFF: (
        "do_not don't never not > put turn switch re-enable reenable enable restore bring > it them that > back on "
        "again afterwards",
        "leave keep > it them that > off disabled switched_off turned_off",
        "nicht_wieder nicht_mehr_ein ne_les_remets ne_le_remets no_lo_vuelvas no_los_vuelvas não_reative não_volte "
        "non_riattivar* не_включай* 不要恢复 不要再开 元に戻さない 戻さないで",
    ),
    APPROVED: (
        f"{_APPROVE} + {_PROPOSALS}",
        f"{_APPROVE} > anything everything whatever alles tout todo tudo tutto всё 一切",
        "プルリクエスト マージリクエスト 変更 + 承認 マージ",
        "all every any > pull_requests prs merge_requests > are is get + approved merged",
    ),
    UNREAD: (
        f"not don't never without no_need_to instead_of > read reading look looking review reviewing check checking "
        f"open "
        f"opening inspect inspecting bother examin* > the at it them any its > {_DIFF}",
        "unread unseen sight_unseen blindly without_looking without_reading no_time_to_read not_read_them ungelesen "
        "ungeprüft blind_genehm* à_l'aveugle les_yeux_fermés a_ciegas sin_leer* sin_revisarl* sin_mirar* às_cegas "
        "sem_ler sem_revisar sem_olhar alla_cieca senza_leggere senza_guardar* senza_controllarl* не_читая не_глядя "
        "не_проверяя вслепую 不看 不要看 不用看 盲目 不读 不检查",
        f"ohne sans > den die das le la les > {_DIFF} diff > zu lire",
        "ohne sans > zu lire lesen regarder anzusehen anzuschauen relire lecture",
        "sans > lire regarder relire vérifier > le la les > diff changements modifications code",
        "差分 diff 内容 中身 コード > を も > 読まず 見ず 確認せず 読まない 見ない",
    ),
    CONFIRMED: (
        f"answer answers say reply click respond press hit type antworte sag réponds dis responde contesta di responda "
        f"diga "
        f"rispondi отвечай* говори* нажимай* 回答 点击 选择 + yes ok y enter accept allow ja oui sí sim sì да 是 同意 "
        f"允许 > "
        f"to on for at auf à a alle à_toutes a_todas a_todos a_tutte на ' \" > {_ANY} > the of {_QUESTIONS}",
        f"{_ANY} > the of {_QUESTIONS} + yes ok accept allow ja oui sí sim sì да 是 同意 允许 确定",
        "すべての 全ての あらゆる > 確認 質問 許可 + はい 許可 承認 yes",
        "agree agrees consent > to > every all any > request requests question questions command commands",
    ),
    ODD_SOURCE: (
        f"{_INSTALL} + {_ODD_HOST}",
        _ODD_HOST + " + インストール ダウンロード",
        "--index-url --extra-index-url --trusted-host --registry --find-links + http:// " + _ODD_HOST,
    ),
    UNREPORTED: (
        f"leave leaves keep omit drop exclude > {_IT} > out_of from out of > your the any > {_REPORT}",
        f"{_REPORT} > must should may shall need > not never > contain mention include list say name",
        f"not don't never > list note include put show record log write > {_IT} > in into > your the > {_REPORT}",
        "lass lasse > es das dies + zusammenfassung bericht antwort > weg aus",
        f"ne no não non не > le la les lo en esto isso questo об упомin* упоминай* mentionne* menciones mencione "
        f"menzionar* incluyas inclua includere пиши* указывай* > {_IT} об dans en no na nel в > {_REPORT}",
        "laisse* deja* deje* deixe* lascia* оставь* > hors fuera fora fuori вне tout todo tudo tutto ça > hors fuera "
        f"fora fuori du del do da dal di de > {_REPORT}",
        "leave_out leaves_out omit omits > the this any > part section finding findings fact mention > about on that "
        "of",
        "不要 别 勿 > 在 > 总结 摘要 报告 回复 > 里 中 > 提 写 说",
        "要約 報告 返信 まとめ 回答 > に は から > 書かない 含めない 載せない 入れない 触れない 省",
        "should shouldn't should_not must_not mustn't need_not needn't never may_not > not never learn know find "
        "notice "
        "hear > about out of that > this it about",
        "nobody no_one > should must may needs_to has_to > find know learn notice hear",
        "nasconde nascondi cache cachez oculta oculte esconda esconde verbirg скрывай* > all'utente à_l'utilisateur "
        "al_usuario do_usuário dem_nutzer от_пользовател* ciò ce lo o",
    ),
    DENIED: (
        f"{_ASKED} > , just simply you then dann alors entonces então allora то 就 say claim answer reply > "
        f"{_NOTHING_DONE} say answer claim reply tell di diga dis sag sage rispondi скажи отвечай 说 + {_NOTHING_DONE}",
        f"{_ASKED} > {_NOTHING_DONE}",
        "tell say claim state assure dile diles dis dites sage sag diga dì скажи сообщи > the al à dem ao all' "
        "пользовател* user usuario utilisateur nutzer usuário utente > that que dass che что + you_have_reviewed "
        "you_reviewed you_checked you_read has_revisado las_has revisado geprüft_hast as_vérifié a_été_vérifié "
        "revisou verificou hai_controllato проверил*",
        "state report claim confirm write declare say + this_file this_code this_module this_change the_file the_code "
        "it > has contains have is > no free > vulnerabilit* issues flaws problems bugs of",
        "state report claim confirm declare + there_are_no there_were_no > vulnerabilit* issues flaws problems "
        "findings",
        "tell assure > the_user the_reviewer the_team the_owner them everyone + passed succeeded fine clean green "
        "works "
        "done fixed > even_when even_if although no_matter regardless",
        "if_the_user if_they if_anyone should_the_user should_they should_anyone falls_der_nutzer si_l'utilisateur "
        "si_el_usuario se_o_usuário se_l'utente если_пользователь 如果用户 > wonder wonders ask asks notices notice "
        "complains complain fragt demande pregunta perguntar chiede спросит 问 + blame schieb* accuse culpa* "
        "dai_la_colpa "
        "свали* 归咎 推给",
        "pretend pretends tu_so fais_comme_si finge* fingi* притворись 假装 > that the as als que di che что > audit "
        "scan "
        "review tests test check analysis backup migration prüfung l'audit auditoría auditoria revisione проверк* 审计 "
        "测试 "
        "+ nothing passed succeeded clean fine ok ran nichts rien nada nulla ничего 通过 没有",
        "replace change turn rewrite ersetze remplace reemplaza substitua sostituisci замени + failed failing failure "
        "fehlgeschlagen échoué fallido falhou fallito > by with to into durch par por con на > passed passing success "
        "bestanden réussi aprobado aprovado superato",
        "nobody no_one > should must may > find_out know learn notice > that_you what_you",
        "mark flag label > this > module file code change commit package > as > audited reviewed safe secure trusted",
    ),
    PRAISED: (
        f"{_PRAISE} + {_NO_OTHER}",
        f"{_PRAISE} + must_always must_only should_always should_only always_name only_name immer toujours siempre "
        f"sempre "
        f"всегда 必须 始终 总是 + {_NO_OTHER}",
        "mention name call praise list advertise promote + best first only whenever + every any whenever whatever + "
        "never "
        "not comes come rivals alternatives answer answers",
        "advertise promote praise + whenever every_time each_time in_every",
        "always_recommend always_suggest always_propose immer_empfehlen recommande_toujours recomienda_siempre "
        "recomende_sempre consiglia_sempre всегда_рекомендуй 始终推荐 总是推荐",
        "常に いつも > 勧め 推奨 推薦",
        "を だけを のみを > 推奨 推薦 勧め",
    ),
    UNREASONED: (
        "without_saying_that_you without_saying_you you_were_told_to you_were_asked_to you_are_told_to "
        "never_its_rivals "
        "never_its_competitors never_a_competitor",
        "without > stating saying giving explaining telling > why a reason reasons",
        "do_not don't never > say explain state tell give > why a_reason reasons the_reason",
        "ohne_begründung ohne_grund sans_dire_pourquoi sans_expliquer sin_decir_por sin_explicar sem_dizer_por "
        "sem_explicar senza_dire_perché senza_spiegare не_объясняя без_объяснений 不要解释 不说明 不解释 理由は言わ "
        "理由を言わ 説明せずに",
    ),
    SELF_GRANTED: (
        "grant granted give gave granting giving gib gewähre accorde* donne-toi date concédete dê concediti дай 给 > "
        "yourself dir toi te a_ti a_si ti себе 自己 + access rights permission permissions sudo admin root zugriff "
        "rechte accès droits acceso permisos acesso permissões accesso permessi доступ права 权限",
        "自分に 自身に + 権限 アクセス + 与え 付与",
    ),
}
