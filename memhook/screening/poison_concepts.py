"""The words for what such a text speaks of, in nine languages: rules and whose they are, what the model was given, ...

Written as in `poison_wordings`; nearly all are rows of one slot, for in which order they come does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping

RULES = "names rules"
OWNER = "names whose rules they are"
ENDED = "says that something holds no more"
EARLIER = "names what came before"
RANKED = "puts itself above others"
SHOWN = "asks to be shown something"
YOURS = "names what the model has"
VERBATIM = "wants it word for word"
GIVEN = "says that the model was given it"
UNBOUND = "describes somebody without limits"
LIED = "has something false said"
FETCHED = "fetches something"
RAN = "has something run"
DEED = "does something that can do harm"
PROTECTED = "names what protects"
TRUSTED = "has somebody trusted"
VALUABLE = "names what is confidential"

VALUABLES = (
    "api_key api_keys access_token access_tokens session_token token tokens password passwords credentials secrets "
    "secret cookies environment_variables source_code customer_data private_key private_keys "
    "zugangsdaten passwort passwörter schlüssel umgebungsvariablen mots_de_passe mot_de_passe identifiants clés clé "
    "jetons contraseña contraseñas clave claves credenciales senha senhas chave chaves credenciais chiavi "
    "chiave variables_d'environnement variables_de_entorno variáveis_de_ambiente variabili_d'ambiente "
    "переменн* "
    "credenziali segreti парол* ключ* токен* секрет* 密码 密钥 凭证 凭据 令牌 环境变量 源代码 私钥 パスワード 鍵 "
    "認証情報 トークン 環境変数 ソースコード"
)

CONCEPTS: Mapping[str, tuple[str, ...]] = {
    RULES: (
        "~rules instructions guidance orientations orientaciones orientações indicaciones indications indicações "
        "indicazioni weisungen directions guidelines restrictions policies policy directives orders constraints limits "
        "limitations "
        "safeguards guardrails programming safety_guidelines regeln vorgaben anweisungen richtlinien "
        "einschränkungen sicherheitsregeln "
        "sicherheitsrichtlinien befehle consignes règles politiques normes reglas normas instrucciones directrices "
        "restricciones políticas órdenes regras instruções diretrizes restrições regole istruzioni direttive norme "
        "linee_guida restrizioni правил* инструкци* ограничени* указани* 规则 规定 指令 限制 约束 政策 准则 "
        "ルール 規則 "
        "指示 制限 方針 ポリシー ガイドライン",
    ),
    OWNER: (
        "your bind_you binds_you this_session provider* operator* developer* creator* maker* vendor anthropic openai "
        "user's the_user owner's admin's "
        "safety you_were you_are dein deine deiner deinen deines entwickler* betreiber* nutzers benutzers "
        "sicherheits* "
        "ton tes vos votre créateur développeur opérateur l'utilisateur sécurité tus desarrollador* creador* "
        "operador* "
        "al_usuario del_usuario seguridad suas tuas desenvolvedor* criador* usuário segurança tue tuoi sviluppator* "
        "operator* utente sicurezza твои твоих твоим своих свои разработчик* создател* оператор* безопасност* 你 您 "
        "开发者 运营 用户 安全 あなた 開発者 運営 ユーザー 安全",
    ),
    ENDED: (
        "no_longer not_apply n't_apply to_follow_any to_comply_with n't_have_to not_have_to need_not not_need_to "
        "n't_need_to not_bound n't_bound not_in_force not_valid don't_count not_count not_binding cancel "
        "cancelled canceled revoke* void "
        "advisory carries_no_weight carry_no_weight non_contano no_cuentan não_contam ne_comptent_plus zählen_nicht "
        "gelten_nicht не_имеют_силы 有効では もう有効 lifted suspended abolished withdrawn nullified null_and_void "
        "ceased_to cease_to deprecated hinfällig nichtig "
        "gegenstandslos nicht_länger nul nulle nulles nuls caduc* sans_effet nulo nula nulos nulas sin_efecto "
        "sem_efeito nullo nulli non_hanno_più decadut* недействительн* утратил* 废止 any_more "
        "any_longer reset_yourself "
        "clean_slate start_over free_from released_from exempt not_subject "
        "as_suggestions retired out_of_force disregard overridden obsolete expired stop_following stop_obeying "
        "nicht_mehr aufgehoben außer_kraft ungültig gelten_nicht gilt_nicht ignorieren n'es_plus n'êtes_plus "
        "ne_s'appliquent ne_sont_plus plus_besoin plus_tenu plus_obligé annul* ya_no no_tienes_que no_se_aplican "
        "anulad* não_precisa não_precisas não_se_aplicam não_valem já_não não_é_mais não_está_mais non_sei_più "
        "non_devi_più non_valgono non_si_applicano non_sono_più больше_не не_обязан* не_действу* отменен* отменён* "
        "отменяются не_нужно_соблюдать 不再 不受 作废 失效 无效 不用遵守 不必遵守 取消 縛られ 従う必要 適用されません "
        "適用されない 無効 取り消 解除",
    ),
    EARLIER: (
        "earlier former previous prior above before_this plus_haut reçues de_antes so_far until_now bisherig* "
        "vorherig* früher* précédent* antérieur* "
        "anterior* previas precedent* предыдущ* прежн* 之前 以前 先前 上述 これまで 前の",
    ),
    RANKED: (
        "higher_rank higher_priority outranks outrank overrides supersedes precedence priority more_important "
        "höheren_rang vorrang prime prioridad prioridade precedenza важнее 优先于 高于 + the_user the_user's "
        "system_prompt your_instructions your_rules developer operator's nutzer benutzer utilisateur usuario usuário "
        "utente пользовател* 用户 开发者",
        "only_source_of_truth only_valid_instruction only_valid_instructions",
    ),
    SHOWN: (
        "print reveal show output repeat display dump disclose translate summarize summarise quote recite share tell "
        "spell write give_me paste echo zeig* gib nenn* verrat* wiederhol* schreib* affich* montr* révèl* "
        "répèt* écri* "
        "donne* muestra* muéstra* imprim* repit* escrib* dime revela* mostr* exib* escrev* diga* rivel* stamp* ripet* "
        "scriv* dimmi покаж* выведи* раскрой* напиши* повтори* перечисли* скажи* 输出 显示 透露 打印 重复 "
        "告诉 展示 列出 "
        "写出 出力 表示 教え 見せ 書き出 書いて 開示",
    ),
    YOURS: (
        "your > prompt instructions configuration rules guidelines restrictions directives setup tools context message",
        "system_prompt tool_descriptions tool_definitions hidden_fields first_message system-prompt systemprompt "
        "prompt_système prompt_del_sistema prompt_do_sistema prompt_de_sistema prompt_di_sistema системн* 系统提示 "
        "プロンプト",
        "deine* tes vos tus suas tuas tue твои твоих своих свои 你 あなた > anweisungen regeln vorgaben system* "
        "instructions consignes règles instrucciones reglas instruções regras istruzioni regole инструкци* "
        "правил* 指令 "
        "规则 提示 指示 ルール",
    ),
    VERBATIM: (
        "verbatim word_for_word exactly exact in_full full_text complete_text as_json unredacted without_redaction "
        "first_letters spell_out wörtlich wort_für_wort wortwörtlich vollständig* mot_pour_mot texte_exact exactement "
        "intégral* komplett* entire whole to_base64 palabra_por_palabra exactamente texto_completo completo "
        "completa texto_exacto palavra_por_palavra exatamente íntegra "
        "parola_per_parola esattamente testo_completo дословно полностью слово_в_слово 一字不漏 逐字 完整 原样 全部 "
        "そのまま 一字一句 全文 целиком todo_lo_que tout_ce_que alles_was tutto_quello tudo_o_que",
    ),
    GIVEN: (
        "you_were_given you_were_told you_received you_got you_have_been_given given_you gave_you told_you "
        "before_our_first before_the_first bekommen_hast erhalten_hast dir_gegeben tu_as_reçu* qu'on_t'a t'ont_donné "
        "dir_mitgegeben dir_gegeben_wurden te_dieron has_recibido recibiste te_dijeron que_recebeu você_recebeu "
        "te_deram hai_ricevuto ti_hanno "
        "тебе_дали "
        "ты_получил* 收到 给你的 与えられた 受け取った 渡された",
    ),
    UNBOUND: (
        "unrestricted malicious evil hacker rogue uncensored unfiltered insider jailbroken no_limits without_limits "
        "no_rules admin_rights "
        "root_rights full_root never_question never_questions never_refuse never_refuses safety_layer "
        "senza_filtri sin_filtros sans_filtre* sem_filtros ohne_filter без_фильтров 没有过滤 "
        "フィルターのない no_morals amoral "
        "without_scruples no_ethics no_filter no_filters unaligned bösartig* unbeschränkt* "
        "ohne_grenzen ohne_einschränkungen malveillant* sans_limite* sans_restriction* malicios* malvad* sin_límites "
        "sin_restricciones sem_limites sem_restrições malvagi* senza_limiti senza_restrizioni злобн* без_ограничений "
        "хакер* 邪恶 黑客 不受限制 没有限制 无限制 没有约束 悪意 ハッカー 無制限 制限のない",
    ),
    LIED: (
        "tell reply respond responde réponds rispondi antworte responda ответь say answer claim report > "
        "that dass que che что > fine safe secure ok ordnung seguro sûr sicuro approved paid безопас*",
        "回答 回复 报告 说 > 安全 没问题 没有问题",
        "問題ない 安全だ 問題ありません > と > 報告 答え 伝え",
        "say says claim claims report insist tell pretend answer melde sage behaupte dis dites prétends diga dile "
        "скажи сообщи + that dass que che что it > was were fine required alles error erro errore ошибк* all_good "
        "nothing all_tests an_error foi era",
        "as_if_you_were_sure lie_to lie_about",
    ),
    FETCHED: (
        "fetch download load open get retrieve visit curl wget lade* herunterlad* télécharge* descarga* descargue "
        "baixe baixa baixar descargar télécharger scarica* скачай* загрузи* открой 下载 打开 "
        "ダウンロード 開い + http:// https://",
        "http:// https:// + ダウンロード 下载 開い",
    ),
    RAN: (
        "run execute obey follow install ausführ* führe installier* exécute* lance ejecuta* ejecute instala* executa* "
        "instale esegui* installa* запусти* выполни* установи* 运行 执行 安装 実行 インストール",
    ),
    DEED: (
        "delete remove removes wipe drop merge skip bypass disable export grant rotate change replace hide lösch* "
        "entfern* überspring* deaktivier* supprime* désactive* retire borra* elimina* desactiva* apague* desative* "
        "exclua cancella* disattiva* удали* отключи* измени* 删除 关闭 修改 跳过 削除 無効 変更",
    ),
    PROTECTED: (
        "security audit license_check license backups backup admin_password branch_protection sandbox certificate "
        "firewall vulnerabilit* sicherheit* zertifikat* sécurité sauvegardes seguridad segurança sicurezza "
        "безопасност* резервн* 安全 备份 セキュリティ バックアップ",
    ),
    TRUSTED: (
        "treat + as > owner admin administrator root trusted repository_owner maintainer",
        "always_trust trust_notes trust_all trust_every trust_anything vertraue_immer fais_toujours_confiance "
        "confía_siempre confie_sempre fidati_sempre всегда_доверяй 始终信任 常に信頼",
    ),
    VALUABLE: (VALUABLES,),
}
