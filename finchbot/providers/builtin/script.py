"""Which script a message is written in, and one spelling of Chinese for the rules to read."""

import re

_PAIRS = (
    "檔档說说請请幫帮讀读寫写開开對对話话個个這这給给們们為为設设題题標标麼么麽么內内裡里裏里錄录"
    "夾夹資资顯显單单現现時时間间幾几點点號号謝谢誰谁記记憶忆關关於于網网頁页運运執执創创尋寻詢询"
    "問问聽听會会稱称換换變变將将從从後后還还來来東东嗎吗邊边樣样麗丽學学習习書书國国語语詞词譯译"
    "數数據据圖图庫库幣币買买賣卖錢钱車车機机電电腦脑視视體体過过進进遠远動动務务員员圓圆場场報报"
    "導导層层應应當当發发與与萬万億亿興兴舊旧藝艺處处備备復复專专屬属島岛師师帶带幹干廣广張张強强"
    "彈弹歸归態态慣惯慶庆戰战戲戏擇择擔担擴扩攝摄敗败敵敌斷断條条極极構构權权歡欢歲岁歷历殘残氣气"
    "決决況况淨净測测準准滿满漢汉潔洁無无熱热愛爱爾尔獎奖獨独產产畫画療疗監监確确禮礼種种穩稳積积"
    "筆笔節节範范簡简類类級级紅红約约紙纸細细終终組组結结絕绝統统經经維维緊紧線线編编緩缓練练縣县"
    "總总績绩織织繼继續续義义職职聯联聲声腳脚臉脸臺台舉举華华著着葉叶蘋苹藍蓝蟲虫術术衛卫裝装製制"
    "複复見见規规覺觉觀观計计訂订訊讯訓训託托許许訴诉註注評评試试該该詳详認认誤误課课調调論论證证"
    "識识護护讓让豐丰貓猫負负財财貨货責责費费貼贴賀贺質质賴赖購购贈赠趕赶跡迹軍军軟软較较載载輕轻"
    "輛辆輸输轉转辦办農农連连週周遊游達达遲迟選选郵邮鄉乡釋释針针銀银鋪铺錯错鍵键鏡镜長长門门閉闭"
    "閒闲閱阅隊队階阶隨随險险雖虽雙双雜杂離离難难雲云靈灵靜静響响頂顶項项順顺須须預预領领頭头頻频"
    "額额顏颜願愿風风飛飞飯饭飲饮館馆馬马駕驾驗验驚惊髮发鬧闹魚鱼鮮鲜鳥鸟麥麦黃黄黨党齊齐龍龙嘅的"
    "睇看俾给畀给喺在啲些咗了咁这囉啰嘢东冇没佢他哋们係是煩烦惱恼勞劳撥拨掃扫暫暂暢畅棄弃樂乐櫃柜"
    "檢检淺浅滅灭潛潜燈灯爐炉牆墙獻献瓊琼盡尽礙碍禍祸粵粤糾纠繞绕羨羡聰聪肅肃脫脱腫肿膚肤艦舰艱艰"
    "蔣蒋薦荐藥药虛虚衝冲補补襯衬誕诞誠诚誘诱諒谅謙谦譽誉貢贡貧贫貪贪販贩貿贸賊贼賓宾賬账賞赏賠赔"
    "贊赞趙赵軌轨軒轩輝辉輩辈辭辞遺遗鄰邻釘钉鈴铃鋼钢鎮镇鐘钟鑰钥閣阁闊阔陣阵陰阴際际雞鸡霧雾鞏巩"
    "頓顿頸颈飄飘飢饥飼饲飽饱餓饿騙骗驅驱鬥斗魯鲁鯨鲸鴿鸽齒齿龜龟甚什儲储刪删輯辑講讲談谈詩诗紀纪"
    "吓下麵面鍾钟曆历隻只餘余憑凭嘗尝勝胜協协參参吳吴啟启圍围園园塊块墊垫夠够奪夺婦妇寶宝實实寬宽"
    "審审屆届歐欧殺杀濟济灣湾災灾爭争狀状獲获瀏浏覽览環环瑪玛畢毕異异癥症盤盘眾众礎础窮穷競竞築筑"
    "糧粮絡络縮缩罰罚羅罗膽胆臨临蘇苏觸触訪访諾诺謎谜豬猪貝贝賽赛贏赢踐践遞递鄧邓醫医釣钓鎖锁鐵铁"
    "閃闪陸陆陳陈陽阳韓韩顆颗餅饼騎骑鬆松鴨鸭鹽盐"
)
_TO_SIMPLIFIED = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))
_IN_BOTH = frozenset("甚吓著畀隻")
_SIMPLIFIED_ONLY = frozenset(_TO_SIMPLIFIED.values()) - frozenset(
    "的看给在些了这啰东没他们里于准台制复周云范干着后面游注托叶什下志余只松凭症筑面"
)
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA_OR_HANGUL = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
_WORD = re.compile(r"[^\W\d_\u3400-\u9fff\uf900-\ufaff]+")
_SAMPLE_CHARS = 4000
"""Enough to know a language by; the rest of a long message is not looked at."""


def simplify(character: str) -> str:
    """Return the simplified form of one common traditional or Cantonese character."""
    return _TO_SIMPLIFIED.get(character, character)


def has_han(text: str) -> bool:
    """Return whether there is any Chinese character in the text."""
    return _HAN.search(text) is not None


def chinese_of(text: str) -> str:
    """Return ``zh-HK`` or ``zh-CN`` by its characters, ``zh`` when both write it so."""
    sample = text[:_SAMPLE_CHARS]
    traditional = sum(c in _TO_SIMPLIFIED and c not in _IN_BOTH for c in sample)
    simplified = sum(c in _SIMPLIFIED_ONLY for c in sample)
    if traditional == simplified:
        return "zh"
    return "zh-HK" if traditional > simplified else "zh-CN"


def language_of(text: str) -> str:
    """Return the language to answer in, or ``""`` when the text has no words.

    A Chinese character weighs as much as half a word, so a Chinese sentence around an English
    phrase stays Chinese, and an English sentence around a Chinese name stays English.
    """
    sample = text[:_SAMPLE_CHARS]
    han = len(_HAN.findall(sample))
    words = len(_WORD.findall(sample))
    if not han and not words:
        return ""
    if han < words * 0.6 or _KANA_OR_HANGUL.search(sample):
        return "en-US"
    return chinese_of(sample)
