// Captions of the book's grammar, German and English. Made by tools/record_bench.py.
export const recipe = {"name": "captions", "constructions": ["intransitive", "locative"]};
export const train = `
Das schöne stolze Mädchen lernt in der Schule .	The beautiful proud girl is studying in the school .
Viele stolze junge Feuerwehrmänner erwachen .	Many proud young firefighters are waking up .
Vier Ärztinnen tanzen im neuen Büro .	Four doctors are dancing in the new office .
Ein Vater ruht sich hinter der Schule aus .	A father is resting behind the school .
Die große braune Kuh grast hinter dem Zaun .	The big brown cow is grazing behind the fence .
Fünf junge Musiker warten wieder .	Five young musicians are waiting again .
Einige schmutzige Mädchen lernen .	Some dirty girls are studying .
Der freundliche Vater angelt auf der Brücke .	The friendly father is fishing on the bridge .
Einige stolze Feuerwehrmänner stehen auf .	Some proud firefighters are getting up .
Drei Hunde bellen hinter der Hütte .	Three dogs are barking behind the hut .
Sechs Kinder sitzen hinter einem dunklen Schloss .	Six children are sitting behind a dark castle .
Die traurige Lehrerin steht in einem Büro .	The sad teacher is standing in an office .
Sechs Füchse spielen wieder .	Six foxes are playing again .
Einige Mütter lachen auf dem Platz .	Some mothers are laughing in the square .
Ein Musiker sitzt vor einem Krankenhaus .	A musician is sitting in front of a hospital .
Einige müde junge Kellner arbeiten hinter der Schule .	Some tired young waiters are working behind the school .
Der Kellner singt im grünen Wald .	The waiter is singing in the green forest .
Zwei Gärtner arbeiten zusammen .	Two gardeners are working together .
Jedes große Lamm grast hinter dem Zaun .	Every big lamb is grazing behind the fence .
Ein Gärtner ruht sich auf dem Bett aus .	A gardener is resting on the bed .
Der glückliche Polizist wartet draußen .	The happy police officer is waiting outside .
Drei kleine Hunde bellen vor dem Zelt .	Three small dogs are barking in front of the tent .
Ein hungriges Baby schläft .	A hungry baby is sleeping .
Ein Schüler tanzt neben dem Haus .	A pupil is dancing next to the house .
Eine kleine Katze spielt .	A small cat is playing .
Drei kleine Esel grasen auf einem Hügel .	Three small donkeys are grazing on a hill .
Ein Koch wartet im Dorf .	A chef is waiting in the village .
Zwei müde Bauern stehen auf .	Two tired farmers are getting up .
Die Ärztin lacht .	The doctor is laughing .
Der Clown weint vor dem Hotel .	The clown is crying in front of the hotel .
Der Schüler singt draußen .	The pupil is singing outside .
Die Lehrerin spaziert in der modernen Stadt .	The teacher is walking in the modern city .
Ein Tourist angelt draußen .	A tourist is fishing outside .
Ein müder Gärtner erwacht draußen .	A tired gardener is waking up outside .
Ein starker Mann schläft draußen .	A strong man is sleeping outside .
Ein Junge lernt in einem Büro .	A boy is studying in an office .
Sechs Kinder schreien hinter der Schule .	Six children are shouting behind the school .
Ein Matrose lacht wieder .	A sailor is laughing again .
Jeder Gärtner spaziert in der modernen Stadt .	Every gardener is walking in the modern city .
Ein älterer Fotograf erwacht draußen .	An elderly photographer is waking up outside .
Eine kleine braune Kuh grast auf der Wiese .	A small brown cow is grazing in the meadow .
Diese eleganten Männer gähnen .	These elegant men are yawning .
Zwei Hunde bellen .	Two dogs are barking .
Der junge Clown weint .	The young clown is crying .
Ein mutiger Onkel arbeitet auf dem Feld .	A brave uncle is working in the field .
Die jungen Väter kochen im Restaurant .	The young fathers are cooking in the restaurant .
Einige Mütter lächeln .	Some mothers are smiling .
Der Schüler lächelt in einem Haus .	The pupil is smiling in a house .
Mehrere müde Onkel stehen wieder auf .	Several tired uncles are getting up again .
Die elegante Großmutter sitzt neben der alten Hütte .	The elegant grandmother is sitting next to the old hut .
Acht junge Mechaniker liegen auf dem Sofa .	Eight young mechanics are lying on the sofa .
Diese glückliche junge Schauspielerin kocht in der Küche .	This happy young actress is cooking in the kitchen .
Das kleine Pferd grast auf der Wiese .	The small horse is grazing in the meadow .
Eine junge Nachbarin ruht sich vor dem berühmten Museum aus .	A young neighbor is resting in front of the famous museum .
Ein Schüler lernt .	A pupil is studying .
Der Mann weint vor dem Krankenhaus .	The man is crying in front of the hospital .
Dieses Kind schreit neben einem hohen Zaun .	This child is shouting next to a tall fence .
Ein junger Vater kocht .	A young father is cooking .
Der junge Arbeiter arbeitet vor einem kleinen Geschäft .	The young worker is working in front of a small shop .
Ein Vater angelt auf der schönen Brücke .	A father is fishing on the beautiful bridge .
Ein stolzer Junge steht auf dem kleinen grünen Hügel .	A proud boy is standing on the small green hill .
Eine kleine Katze sitzt neben einem Haus .	A small cat is sitting next to a house .
Der Onkel schläft am Strand .	The uncle is sleeping on the beach .
Dieses schöne Mädchen sitzt vor einem Museum .	This beautiful girl is sitting in front of a museum .
Die traurigen Touristen singen wieder .	The sad tourists are singing again .
Der starke junge Fischer gähnt draußen .	The strong young fisherman is yawning outside .
Diese Tänzerin schwimmt im Schwimmbecken .	This dancer is swimming in the swimming pool .
Ein junger Feuerwehrmann spaziert in einem Park .	A young firefighter is walking in a park .
Ein Bauer steht auf .	A farmer is getting up .
Eine elegante Frau singt im dunklen Zimmer .	An elegant woman is singing in the dark room .
Der glückliche junge Vater steht in der großen Küche .	The happy young father is standing in the big kitchen .
Das hungrige Lamm grast auf dem Feld .	The hungry lamb is grazing in the field .
Ein junger Kellner ruht sich hinter der Schule aus .	A young waiter is resting behind the school .
Ein Mädchen spielt vor dem großen Krankenhaus .	A girl is playing in front of the big hospital .
Jeder blonde Schüler lacht in der warmen Küche .	Every blond pupil is laughing in the warm kitchen .
Ein Musiker wartet neben dem gelben Zelt .	A musician is waiting next to the yellow tent .
Diese Mechaniker schlafen an einem schönen ruhigen Strand .	These mechanics are sleeping on a beautiful quiet beach .
Zwei Esel grasen auf einem Feld .	Two donkeys are grazing in a field .
Die Studenten sitzen im großen dunklen Wald .	The students are sitting in the big dark forest .
Jede Schauspielerin spaziert im schönen Park .	Every actress is walking in the beautiful park .
Ein mutiges Mädchen weint .	A brave girl is crying .
Ein Mechaniker schwimmt .	A mechanic is swimming .
Ein Student lacht wieder .	A student is laughing again .
Acht nasse junge Hunde erwachen .	Eight wet young dogs are waking up .
Der Kellner wartet auf der Wiese .	The waiter is waiting in the meadow .
Der mutige Großvater spaziert auf der großen Brücke .	The brave grandfather is walking on the big bridge .
Der Junge steht in einem Restaurant .	The boy is standing in a restaurant .
Der müde Musiker erwacht .	The tired musician is waking up .
Vier Mädchen schreien draußen .	Four girls are shouting outside .
Ein Tourist lacht wieder .	A tourist is laughing again .
Ein starker Löwe spielt auf der Wiese .	A strong lion is playing in the meadow .
Die schönen Mädchen lernen im Büro .	The beautiful girls are studying in the office .
Viele Pferde ruhen sich auf der Wiese aus .	Many horses are resting in the meadow .
Ein Arbeiter ruht sich aus .	A worker is resting .
Der Feuerwehrmann kocht in der Küche .	The firefighter is cooking in the kitchen .
Mehrere glückliche Nachbarinnen schlafen am großen Hafen .	Several happy neighbors are sleeping at the big harbor .
Sieben Frauen schlafen wieder .	Seven women are sleeping again .
Eine elegante Großmutter erwacht wieder .	An elegant grandmother is waking up again .
Der durstige Junge weint neben der Statue .	The thirsty boy is crying next to the statue .
Das stolze Mädchen weint auf dem kleinen Hügel .	The proud girl is crying on the small hill .
Die müden jungen Lehrerinnen schlafen draußen .	The tired young teachers are sleeping outside .
Einige freundliche Tänzerinnen arbeiten vor der leeren Kirche .	Some friendly dancers are working in front of the empty church .
Ein großer Esel grast wieder .	A big donkey is grazing again .
Der müde Mechaniker tanzt .	The tired mechanic is dancing .
Ein glücklicher Vater angelt .	A happy father is fishing .
Das Mädchen wartet wieder .	The girl is waiting again .
Ein Pferd grast draußen .	A horse is grazing outside .
Einige schöne blonde Mädchen spielen zusammen .	Some beautiful blond girls are playing together .
Ein Hund bellt auf dem Platz .	A dog is barking in the square .
Viele Schauspielerinnen warten neben dem Zelt .	Many actresses are waiting next to the tent .
Ein hungriger Fuchs spielt unter dem Baum .	A hungry fox is playing under the tree .
Ein älterer Mann kocht im Hotel .	An elderly man is cooking in the hotel .
Ein junger Wanderer arbeitet hinter einem Baum .	A young hiker is working behind a tree .
Der freundliche Onkel ruht sich hinter dem Schloss aus .	The friendly uncle is resting behind the castle .
Die Gärtner ruhen sich in der modernen Stadt aus .	The gardeners are resting in the modern city .
Ein junger Arbeiter erwacht .	A young worker is waking up .
Viele junge Kellner schwimmen wieder .	Many young waiters are swimming again .
Ein mutiger Gärtner lächelt hinter dem Haus .	A brave gardener is smiling behind the house .
Ein junges Pferd grast auf der Wiese .	A young horse is grazing in the meadow .
Ein Tourist lächelt .	A tourist is smiling .
Ein mutiger Polizist schreit neben dem Brunnen .	A brave police officer is shouting next to the fountain .
Ein Onkel angelt am schönen See .	An uncle is fishing at the beautiful lake .
Vier Nachbarinnen schwimmen wieder .	Four neighbors are swimming again .
Die Studenten sitzen auf dem Feld .	The students are sitting in the field .
Der Vogel singt in einem Wald .	The bird is singing in a forest .
Zehn Bäcker arbeiten auf dem Feld .	Ten bakers are working in the field .
Einige Gärtner lachen hinter einem Museum .	Some gardeners are laughing behind a museum .
Die Feuerwehrmänner sitzen hinter dem Geschäft .	The firefighters are sitting behind the shop .
Ein hungriger junger Student liegt am Strand .	A hungry young student is lying on the beach .
Die kleine Kuh grast auf dem Hügel .	The small cow is grazing on the hill .
Ein Elefant schläft unter dem Baum .	An elephant is sleeping under the tree .
Die Schauspielerinnen ruhen sich auf dem Hügel aus .	The actresses are resting on the hill .
Dieser Clown weint .	This clown is crying .
Der glückliche junge Fotograf schwimmt draußen .	The happy young photographer is swimming outside .
Ein junger Gärtner spaziert auf der alten Brücke .	A young gardener is walking on the old bridge .
Der Fischer steht auf dem Feld .	The fisherman is standing in the field .
Die Wanderer schwimmen in einem See .	The hikers are swimming in a lake .
Die junge Mutter singt neben der Bank .	The young mother is singing next to the bench .
Die mutigen Köche schwimmen .	The brave chefs are swimming .
Sieben Krankenschwestern schlafen auf dem roten Bett .	Seven nurses are sleeping on the red bed .
Eine Großmutter steht hinter der Kirche .	A grandmother is standing behind the church .
Die Tänzerin kocht im neuen Restaurant .	The dancer is cooking in the new restaurant .
Ein junger Gärtner sitzt neben dem grauen Turm .	A young gardener is sitting next to the gray tower .
Ein Hund bellt vor dem Hotel .	A dog is barking in front of the hotel .
Der glückliche Schüler lernt in der Schule .	The happy pupil is studying in the school .
Vier Fotografen lächeln im Zimmer .	Four photographers are smiling in the room .
Der stolze junge Bäcker lächelt vor dem alten Brunnen .	The proud young baker is smiling in front of the old fountain .
Ein Fischer arbeitet hinter einer kleinen Mauer .	A fisherman is working behind a small wall .
Diese Lehrerinnen warten wieder .	These teachers are waiting again .
Die schöne Schauspielerin weint neben der Hütte .	The beautiful actress is crying next to the hut .
Der stolze Koch kocht in der Küche .	The proud chef is cooking in the kitchen .
Der traurige Mann weint .	The sad man is crying .
Ein blonder Junge ruht sich am Tisch aus .	A blond boy is resting at the table .
Die jungen Wanderer schwimmen im See .	The young hikers are swimming in the lake .
Eine Frau angelt auf der Brücke .	A woman is fishing on the bridge .
Ein älterer Gärtner ruht sich hinter dem neuen Museum aus .	An elderly gardener is resting behind the new museum .
Dieser junge Wanderer arbeitet draußen .	This young hiker is working outside .
Die großen Kühe grasen auf der grünen Wiese .	The big cows are grazing in the green meadow .
Ein Student lernt am neuen Tisch .	A student is studying at the new table .
Vier hungrige Schüler ruhen sich hinter dem Zaun aus .	Four hungry pupils are resting behind the fence .
Zwei mutige Großväter angeln .	Two brave grandfathers are fishing .
Dieser Maler lächelt im Hof .	This painter is smiling in the courtyard .
Drei Bauern arbeiten vor dem Geschäft .	Three farmers are working in front of the shop .
Die mutigen Wanderer lachen in der modernen Bibliothek .	The brave hikers are laughing in the modern library .
Ein junger Gärtner kocht im Hotel .	A young gardener is cooking in the hotel .
Der glückliche Student lernt in der Schule .	The happy student is studying in the school .
Die Frau weint draußen .	The woman is crying outside .
Der Junge lernt .	The boy is studying .
Die durstigen Esel grasen hinter dem Stall .	The thirsty donkeys are grazing behind the stable .
Ein junger Bauer kocht in der Küche .	A young farmer is cooking in the kitchen .
Ein schönes Mädchen schreit auf dem Platz .	A beautiful girl is shouting in the square .
Ein Onkel sitzt vor dem berühmten Museum .	An uncle is sitting in front of the famous museum .
Der glückliche Maler tanzt .	The happy painter is dancing .
Die müden jungen Frauen weinen in der Schule .	The tired young women are crying in the school .
Dieser dünne Junge lernt in der Schule .	This thin boy is studying in the school .
Ein Koch spaziert im Garten .	A chef is walking in the garden .
Der freundliche junge Kellner arbeitet neben dem kleinen grünen Baum .	The friendly young waiter is working next to the small green tree .
Eine ältere Nachbarin schwimmt im Fluss .	An elderly neighbor is swimming in the river .
Diese stolzen Jungen lächeln in einem Zimmer .	These proud boys are smiling in a room .
Jeder Vater wartet draußen .	Every father is waiting outside .
Vier stolze Großväter angeln am See .	Four proud grandfathers are fishing at the lake .
Einige Kellner warten hinter dem Baum .	Some waiters are waiting behind the tree .
Ein dünner Hund bellt hinter dem Baum .	A thin dog is barking behind the tree .
Ein älterer Bauer arbeitet auf dem Feld .	An elderly farmer is working in the field .
Ein Hund bellt draußen .	A dog is barking outside .
Ein neugieriger Fotograf steht im großen grünen Wald .	A curious photographer is standing in the big green forest .
Drei junge Maler kochen im Restaurant .	Three young painters are cooking in the restaurant .
Ein Hund bellt .	A dog is barking .
Eine Kuh grast auf der grünen Wiese .	A cow is grazing in the green meadow .
Der durstige Wanderer steht vor dem Zelt .	The thirsty hiker is standing in front of the tent .
Die jungen Matrosen angeln .	The young sailors are fishing .
Die Arbeiter lächeln auf dem berühmten Platz .	The workers are smiling in the famous square .
Die Studenten tanzen .	The students are dancing .
Einige Frauen weinen vor dem schönen runden Spiegel .	Some women are crying in front of the beautiful round mirror .
Ein Mädchen ruht sich in der Stadt aus .	A girl is resting in the city .
Ein Feuerwehrmann sitzt am Hafen .	A firefighter is sitting at the harbor .
Der Gärtner spaziert im schönen ruhigen Dorf .	The gardener is walking in the beautiful quiet village .
Ein freundlicher Vater angelt am Fluss .	A friendly father is fishing at the river .
Eine mutige junge Ärztin singt im Park .	A brave young doctor is singing in the park .
Ein Maler singt .	A painter is singing .
Ein schwarzer Hund bellt vor einem Geschäft .	A black dog is barking in front of a shop .
Ein freundlicher Kellner lacht hinter der weißen Mauer .	A friendly waiter is laughing behind the white wall .
Ein müder Kellner singt im berühmten alten Hotel .	A tired waiter is singing in the famous old hotel .
Der Esel grast auf dem grünen Hügel .	The donkey is grazing on the green hill .
Die hungrigen Jungen lernen wieder .	The hungry boys are studying again .
Ein Junge spielt neben dem Baum .	A boy is playing next to the tree .
Der freundliche Mann lächelt .	The friendly man is smiling .
Eine Großmutter schläft im kleinen Hof .	A grandmother is sleeping in the small courtyard .
Ein junger Wanderer lacht .	A young hiker is laughing .
Ein Arbeiter arbeitet vor einem großen Schloss .	A worker is working in front of a big castle .
Ein altes Kamel ruht sich auf dem großen Feld aus .	An old camel is resting in the big field .
Die Jungen lernen draußen .	The boys are studying outside .
Sieben Mädchen spielen in einem ruhigen Zimmer .	Seven girls are playing in a quiet room .
Jedes Pferd grast auf einem Hügel .	Every horse is grazing on a hill .
Ein Kellner schwimmt wieder .	A waiter is swimming again .
Ein blonder Junge lernt in der Bibliothek .	A blond boy is studying in the library .
Dieser Fuchs spielt auf der Wiese .	This fox is playing in the meadow .
Ein freundlicher junger Koch schwimmt im Fluss .	A friendly young chef is swimming in the river .
Vier stolze Bäcker sitzen vor dem Zelt .	Four proud bakers are sitting in front of the tent .
Ein trauriger Gärtner spaziert im Park .	A sad gardener is walking in the park .
Die Wanderer lächeln in einem großen Wald .	The hikers are smiling in a big forest .
Ein Löwe gähnt draußen .	A lion is yawning outside .
Ein Hund wartet auf dem Feld .	A dog is waiting in the field .
Eine Frau tanzt .	A woman is dancing .
Ein junger Arbeiter schreit .	A young worker is shouting .
Ein kleines Kind spielt draußen .	A small child is playing outside .
Der Löwe spielt draußen .	The lion is playing outside .
Diese Lehrerin ruht sich vor dem Hotel aus .	This teacher is resting in front of the hotel .
Eine Krankenschwester steht vor dem modernen Museum .	A nurse is standing in front of the modern museum .
Die alten Hunde spielen zusammen .	The old dogs are playing together .
Ein Junge schwimmt im See .	A boy is swimming in the lake .
Ein junger Polizist schreit wieder .	A young police officer is shouting again .
Die dicken Hunde bellen hinter einem Baum .	The fat dogs are barking behind a tree .
Ein Kamel ruht sich auf dem Feld aus .	A camel is resting in the field .
Das Mädchen kocht im eleganten Restaurant .	The girl is cooking in the elegant restaurant .
Die starken jungen Frauen weinen .	The strong young women are crying .
Neun mutige junge Lehrerinnen erwachen draußen .	Nine brave young teachers are waking up outside .
Ein blonder Tourist kocht im Restaurant .	A blond tourist is cooking in the restaurant .
Viele Babys weinen in der Bibliothek .	Many babies are crying in the library .
Eine freundliche junge Ärztin singt im Garten .	A friendly young doctor is singing in the garden .
Das schmutzige Kind schwimmt im Schwimmbecken .	The dirty child is swimming in the swimming pool .
Ein schmutziger Schüler lernt .	A dirty pupil is studying .
Ein junger Fischer arbeitet wieder .	A young fisherman is working again .
Die glückliche junge Krankenschwester schwimmt im tiefen See .	The happy young nurse is swimming in the deep lake .
Einige Mädchen kochen wieder .	Some girls are cooking again .
Einige kleine Kinder weinen hinter einem hohen Baum .	Some small children are crying behind a tall tree .
Die Hunde spielen auf der Straße .	The dogs are playing on the street .
Ein Arbeiter lächelt .	A worker is smiling .
Der freundliche Musiker tanzt hinter einer kleinen Hütte .	The friendly musician is dancing behind a small hut .
Der Hund bellt vor einem Bahnhof .	The dog is barking in front of a station .
Ein Maler arbeitet im schönen ruhigen Wald .	A painter is working in the beautiful quiet forest .
Eine Frau schreit hinter dem Baum .	A woman is shouting behind the tree .
Ein mutiger Fischer kocht im Restaurant .	A brave fisherman is cooking in the restaurant .
Alle Clowns weinen .	All the clowns are crying .
Die faulen jungen Studenten ruhen sich an einem Strand aus .	The lazy young students are resting on a beach .
Zehn Kühe grasen hinter dem kleinen dunklen Stall .	Ten cows are grazing behind the small dark stable .
Der Fischer spaziert auf der kleinen schmalen Brücke .	The fisherman is walking on the small narrow bridge .
Ein Mann weint wieder .	A man is crying again .
Ein junger Maler arbeitet vor dem Restaurant .	A young painter is working in front of the restaurant .
Die starken Esel grasen auf dem Feld .	The strong donkeys are grazing in the field .
Der Fotograf wartet .	The photographer is waiting .
Die glücklichen Kinder lächeln .	The happy children are smiling .
Einige Maler singen hinter dem hohen Baum .	Some painters are singing behind the tall tree .
Sechs starke Mädchen spielen neben dem schönen berühmten Brunnen .	Six strong girls are playing next to the beautiful famous fountain .
Einige glückliche Fischer angeln wieder .	Some happy fishermen are fishing again .
Ein glückliches Kind schreit draußen .	A happy child is shouting outside .
Diese müde Großmutter erwacht draußen .	This tired grandmother is waking up outside .
Einige junge Arbeiter kochen zusammen .	Some young workers are cooking together .
Einige junge Kellner liegen am Strand .	Some young waiters are lying on the beach .
Zwei freundliche Köche lächeln vor dem Zelt .	Two friendly chefs are smiling in front of the tent .
Eine mutige Lehrerin lächelt wieder .	A brave teacher is smiling again .
Dieser berühmte Fotograf lacht in einem grünen Garten .	This famous photographer is laughing in a green garden .
Eine junge Tänzerin lächelt vor dem dunklen Schloss .	A young dancer is smiling in front of the dark castle .
Sieben junge Gärtner spazieren im ruhigen Dorf .	Seven young gardeners are walking in the quiet village .
Ein glücklicher Matrose tanzt .	A happy sailor is dancing .
Der starke junge Feuerwehrmann spaziert im Garten .	The strong young firefighter is walking in the garden .
Ein Hund bellt hinter dem Schloss .	A dog is barking behind the castle .
Ein Hund bellt wieder .	A dog is barking again .
Ein Fischer tanzt wieder .	A fisherman is dancing again .
Einige Mütter spazieren in einem Wald .	Some mothers are walking in a forest .
Drei Väter kochen zusammen .	Three fathers are cooking together .
Zwei Jungen lachen .	Two boys are laughing .
Der stolze Großvater steht wieder auf .	The proud grandfather is getting up again .
Ein Bär spielt auf einem kleinen Feld .	A bear is playing in a small field .
Eine durstige Katze schläft .	A thirsty cat is sleeping .
Die eleganten jungen Frauen schreien hinter dem Schloss .	The elegant young women are shouting behind the castle .
Der starke Bauer lacht in der Küche .	The strong farmer is laughing in the kitchen .
Der freundliche Koch kocht .	The friendly chef is cooking .
Mehrere Frauen schreien vor einem Museum .	Several women are shouting in front of a museum .
Einige Männer kochen im kleinen modernen Hotel .	Some men are cooking in the small modern hotel .
Viele dünne Männer arbeiten am Strand .	Many thin men are working on the beach .
Ein Bäcker tanzt in einem Hof .	A baker is dancing in a courtyard .
Einige kleine Hunde bellen .	Some small dogs are barking .
Viele junge Mütter schlafen .	Many young mothers are sleeping .
Ein großes Lamm grast draußen .	A big lamb is grazing outside .
Diese schönen Mädchen lachen vor einem Haus .	These beautiful girls are laughing in front of a house .
Diese traurigen Schauspielerinnen weinen vor dem Geschäft .	These sad actresses are crying in front of the shop .
Zwei Matrosen schwimmen .	Two sailors are swimming .
Alle Jungen sitzen vor einem Zelt .	All the boys are sitting in front of a tent .
Drei mutige Mädchen lernen .	Three brave girls are studying .
Der Bauer lächelt auf der Straße .	The farmer is smiling on the street .
Jeder mutige Junge weint neben der Hütte .	Every brave boy is crying next to the hut .
Mehrere junge Tänzerinnen singen draußen .	Several young dancers are singing outside .
Ein Mädchen schreit wieder .	A girl is shouting again .
Diese Frauen angeln auf einer breiten Brücke .	These women are fishing on a wide bridge .
Dieses Lamm grast auf einem grünen Hügel .	This lamb is grazing on a green hill .
Der Junge spaziert auf einer Wiese .	The boy is walking in a meadow .
Ein trauriger junger Clown weint hinter der Mauer .	A sad young clown is crying behind the wall .
Mehrere neugierige Füchse schlafen auf dem Feld .	Several curious foxes are sleeping in the field .
Fünf traurige junge Matrosen stehen am Bahnhof .	Five sad young sailors are standing at the station .
Ein Esel grast .	A donkey is grazing .
Zwei Frauen liegen unter einem Baum .	Two women are lying under a tree .
Ein mutiger Vater lächelt in der kleinen neuen Schule .	A brave father is smiling in the small new school .
Ein junger Feuerwehrmann sitzt neben einem modernen Haus .	A young firefighter is sitting next to a modern house .
Die junge Ärztin lacht unter dem schönen grünen Baum .	The young doctor is laughing under the beautiful green tree .
Der Wanderer sitzt hinter dem grünen Baum .	The hiker is sitting behind the green tree .
Die Maler arbeiten draußen .	The painters are working outside .
Ein durstiges Mädchen spielt im Wald .	A thirsty girl is playing in the forest .
Dieser traurige Kellner ruht sich vor einem Zelt aus .	This sad waiter is resting in front of a tent .
Viele schöne dünne Mädchen lernen in der neuen Schule .	Many beautiful thin girls are studying in the new school .
Jeder Hund bellt .	Every dog is barking .
Ein dünnes Mädchen singt vor einem Restaurant .	A thin girl is singing in front of a restaurant .
Zwei freundliche junge Musiker warten draußen .	Two friendly young musicians are waiting outside .
Zwei Hunde bellen am Hafen .	Two dogs are barking at the harbor .
Diese glückliche Frau lacht hinter dem großen modernen Museum .	This happy woman is laughing behind the big modern museum .
Ein Clown kocht .	A clown is cooking .
Ein Fotograf tanzt auf einem kleinen Hügel .	A photographer is dancing on a small hill .
Dieser Polizist schreit vor dem Krankenhaus .	This police officer is shouting in front of the hospital .
Acht freundliche junge Väter angeln auf einer alten Brücke .	Eight friendly young fathers are fishing on an old bridge .
Die Hunde bellen .	The dogs are barking .
Einige weiße Kaninchen schlafen auf der Wiese .	Some white rabbits are sleeping in the meadow .
Ein Vater angelt am Fluss .	A father is fishing at the river .
Ein Schüler lernt am Tisch .	A pupil is studying at the table .
Diese schönen schmutzigen Mädchen lernen in der Schule .	These beautiful dirty girls are studying in the school .
Ein Mädchen lernt in einem Büro .	A girl is studying in an office .
Ein Hund bellt auf dem Hügel .	A dog is barking on the hill .
Ein dünner Hund bellt .	A thin dog is barking .
Eine junge Krankenschwester liegt auf der Bank .	A young nurse is lying on the bench .
Der Schüler spaziert in einem schönen ruhigen Park .	The pupil is walking in a beautiful quiet park .
Zwei schwarze Kühe grasen auf dem Hügel .	Two black cows are grazing on the hill .
Der starke Feuerwehrmann kocht draußen .	The strong firefighter is cooking outside .
Drei Maler singen hinter der Mauer .	Three painters are singing behind the wall .
Die blonden Jungen ruhen sich aus .	The blond boys are resting .
Der braune Bär schläft unter dem kleinen grünen Baum .	The brown bear is sleeping under the small green tree .
Ein Junge gähnt draußen .	A boy is yawning outside .
Die Mutter arbeitet .	The mother is working .
Ein freundlicher Junge spaziert auf der Wiese .	A friendly boy is walking in the meadow .
Zehn durstige Mädchen lernen am kleinen Tisch .	Ten thirsty girls are studying at the small table .
Einige Onkel angeln am Fluss .	Some uncles are fishing at the river .
Jeder Schüler lernt in einer Schule .	Every pupil is studying in a school .
Ein Mann tanzt hinter der dunklen Kirche .	A man is dancing behind the dark church .
Die schönen Mädchen weinen .	The beautiful girls are crying .
Ein junger Tourist ruht sich vor einem neuen Bahnhof aus .	A young tourist is resting in front of a new station .
Ein müder Mann kocht in der Küche .	A tired man is cooking in the kitchen .
Der junge Mechaniker tanzt wieder .	The young mechanic is dancing again .
Der Gärtner kocht im kleinen teuren Restaurant .	The gardener is cooking in the small expensive restaurant .
Ein Kind spielt neben dem Zaun .	A child is playing next to the fence .
Ein müdes Kamel steht auf .	A tired camel is getting up .
Die jungen Mechaniker lachen draußen .	The young mechanics are laughing outside .
Die jungen Väter erwachen draußen .	The young fathers are waking up outside .
Ein müder junger Fotograf schwimmt .	A tired young photographer is swimming .
Der Junge weint draußen .	The boy is crying outside .
Einige junge Mechaniker tanzen vor dem Zelt .	Some young mechanics are dancing in front of the tent .
Ein glücklicher Onkel steht vor dem Restaurant .	A happy uncle is standing in front of the restaurant .
Der Bäcker lacht .	The baker is laughing .
Die mutigen Großväter schwimmen in einem See .	The brave grandfathers are swimming in a lake .
Mehrere dünne Jungen spielen hinter dem Haus .	Several thin boys are playing behind the house .
Eine junge Katze spielt hinter dem Schloss .	A young cat is playing behind the castle .
Eine mutige Großmutter lächelt im ruhigen Garten .	A brave grandmother is smiling in the quiet garden .
Ein Tourist schwimmt in einem See .	A tourist is swimming in a lake .
Der mutige Hund spielt vor der Schule .	The brave dog is playing in front of the school .
Vier schöne Mädchen lernen in der Bibliothek .	Four beautiful girls are studying in the library .
Ein kleines Kind schreit .	A small child is shouting .
Ein großes Pferd grast auf dem Hügel .	A big horse is grazing on the hill .
Die alten Hunde bellen vor dem alten Restaurant .	The old dogs are barking in front of the old restaurant .
Die jungen Schauspielerinnen weinen .	The young actresses are crying .
Einige faule Schüler lernen in einer Bibliothek .	Some lazy pupils are studying in a library .
Ein trauriger Tourist schläft .	A sad tourist is sleeping .
Jeder Gärtner kocht wieder .	Every gardener is cooking again .
Eine Ärztin lächelt in der großen modernen Schule .	A doctor is smiling in the big modern school .
Die jungen Ärztinnen warten wieder .	The young doctors are waiting again .
Einige mutige junge Clowns weinen neben der Hütte .	Some brave young clowns are crying next to the hut .
Der Student lernt in der Schule .	The student is studying in the school .
Das graue Kaninchen schläft auf einem Feld .	The gray rabbit is sleeping in a field .
Eine junge Lehrerin schläft auf der Straße .	A young teacher is sleeping on the street .
Der Fischer steht vor einem Brunnen .	The fisherman is standing in front of a fountain .
Die Bauern schreien auf der Wiese .	The farmers are shouting in the meadow .
Einige müde junge Matrosen lächeln am Hafen .	Some tired young sailors are smiling at the harbor .
Alle Lämmer grasen hinter dem Stall .	All the lambs are grazing behind the stable .
Einige freundliche junge Polizisten lächeln wieder .	Some friendly young police officers are smiling again .
Der kleine starke Bär erwacht wieder .	The small strong bear is waking up again .
Einige junge Matrosen lachen im Krankenhaus .	Some young sailors are laughing in the hospital .
Das kleine Baby weint wieder .	The small baby is crying again .
Die junge Tänzerin schwimmt in einem Fluss .	The young dancer is swimming in a river .
Einige Feuerwehrmänner stehen auf .	Some firefighters are getting up .
Alle Kühe ruhen sich draußen aus .	All the cows are resting outside .
Das große müde Kamel schläft .	The big tired camel is sleeping .
Der Großvater singt hinter der Schule .	The grandfather is singing behind the school .
Zwei glückliche junge Maler schwimmen .	Two happy young painters are swimming .
Eine Großmutter liegt auf einem Teppich .	A grandmother is lying on a carpet .
Diese mutigen Arbeiter schlafen auf der Bank .	These brave workers are sleeping on the bench .
Einige hungrige Schüler spazieren auf der Wiese .	Some hungry pupils are walking in the meadow .
Ein trauriger Student lernt in der kleinen modernen Schule .	A sad student is studying in the small modern school .
Eine Lehrerin lacht vor dem berühmten Brunnen .	A teacher is laughing in front of the famous fountain .
Die jungen Studenten arbeiten wieder .	The young students are working again .
Die jungen Väter lachen vor dem Zelt .	The young fathers are laughing in front of the tent .
Dieser ältere Kellner steht hinter der Schule .	This elderly waiter is standing behind the school .
Das Mädchen lernt .	The girl is studying .
Dieser große durstige Esel schläft auf der kleinen Wiese .	This big thirsty donkey is sleeping in the small meadow .
Das Mädchen lächelt vor dem Regal .	The girl is smiling in front of the shelf .
Ein alter Esel grast draußen .	An old donkey is grazing outside .
Einige Kinder weinen vor dem Restaurant .	Some children are crying in front of the restaurant .
Einige junge Mechaniker warten neben einer Hütte .	Some young mechanics are waiting next to a hut .
Ein müder junger Clown lacht auf dem leeren Platz .	A tired young clown is laughing in the empty square .
Alle Hunde bellen .	All the dogs are barking .
Ein Maler sitzt hinter dem Geschäft .	A painter is sitting behind the shop .
Zwei mutige Fischer angeln .	Two brave fishermen are fishing .
Ein mutiger junger Hund bellt unter dem Tisch .	A brave young dog is barking under the table .
Ein müder Clown steht auf .	A tired clown is getting up .
Die berühmten jungen Schauspielerinnen arbeiten vor dem Zelt .	The famous young actresses are working in front of the tent .
Alle Männer spazieren im Garten .	All the men are walking in the garden .
Die junge Nachbarin steht auf .	The young neighbor is getting up .
Vier schöne schmutzige Mädchen schreien .	Four beautiful dirty girls are shouting .
Die Kellner arbeiten auf einem kleinen grünen Feld .	The waiters are working in a small green field .
Ein Mann ruht sich unter dem Baum aus .	A man is resting under the tree .
Ein trauriges Kind sitzt hinter dem berühmten Schloss .	A sad child is sitting behind the famous castle .
Einige Männer angeln wieder .	Some men are fishing again .
Der kleine Bär spielt auf einer kleinen Wiese .	The small bear is playing in a small meadow .
Der junge Mechaniker lacht vor dem modernen Museum .	The young mechanic is laughing in front of the modern museum .
Ein trauriger Affe spielt .	A sad monkey is playing .
Einige kleine Esel grasen hinter einem Stall .	Some small donkeys are grazing behind a stable .
Dieser müde Student lacht im gelben Haus .	This tired student is laughing in the yellow house .
Ein schwarzes Pferd grast draußen .	A black horse is grazing outside .
Ein freundlicher Großvater wartet vor einem vollen alten Restaurant .	A friendly grandfather is waiting in front of a full old restaurant .
Ein fauler Junge weint .	A lazy boy is crying .
Ein hungriger Löwe ruht sich aus .	A hungry lion is resting .
Dieses große Lamm grast draußen .	This big lamb is grazing outside .
Die Frau steht vor einem kleinen Bahnhof .	The woman is standing in front of a small station .
Ein älterer Matrose liegt auf der Bank .	An elderly sailor is lying on the bench .
Diese stolzen jungen Musiker ruhen sich auf dem alten Teppich aus .	These proud young musicians are resting on the old carpet .
Ein junger Student singt vor dem Brunnen .	A young student is singing in front of the fountain .
Eine Schauspielerin weint .	An actress is crying .
Ein junger Vater lacht .	A young father is laughing .
Jedes schöne mutige Mädchen lächelt im Wald .	Every beautiful brave girl is smiling in the forest .
Das durstige Pferd ruht sich aus .	The thirsty horse is resting .
Die jungen Maler lächeln draußen .	The young painters are smiling outside .
Dieser Bäcker tanzt draußen .	This baker is dancing outside .
Das Pferd ruht sich aus .	The horse is resting .
Zwei müde junge Fischer gähnen .	Two tired young fishermen are yawning .
Der Großvater ruht sich auf der Wiese aus .	The grandfather is resting in the meadow .
Zwei junge Clowns tanzen zusammen .	Two young clowns are dancing together .
Die Lehrerin liegt an einem ruhigen Strand .	The teacher is lying on a quiet beach .
Ein schönes Mädchen wartet vor dem Museum .	A beautiful girl is waiting in front of the museum .
Der Gärtner steht draußen auf .	The gardener is getting up outside .
Ein Hund bellt in einem Dorf .	A dog is barking in a village .
Ein trauriger Mechaniker sitzt in einem Hof .	A sad mechanic is sitting in a courtyard .
Neun junge Clowns warten vor der großen neuen Schule .	Nine young clowns are waiting in front of the big new school .
Dieser Junge schwimmt wieder .	This boy is swimming again .
Der neugierige Hund erwacht draußen .	The curious dog is waking up outside .
Ein Schüler singt auf der ruhigen Straße .	A pupil is singing on the quiet street .
Zwei Köche lachen zusammen .	Two chefs are laughing together .
Ein junger Fischer angelt draußen .	A young fisherman is fishing outside .
Viele Wanderer schwimmen in einem Schwimmbecken .	Many hikers are swimming in a swimming pool .
Ein Mann schreit vor dem Restaurant .	A man is shouting in front of the restaurant .
Der Clown spaziert im Dorf .	The clown is walking in the village .
Der kleine Hund bellt .	The small dog is barking .
Diese müden Großväter angeln auf der Brücke .	These tired grandfathers are fishing on the bridge .
Die eleganten jungen Tänzerinnen liegen unter dem Baum .	The elegant young dancers are lying under the tree .
Jede junge Lehrerin wartet auf dem schönen leeren Platz .	Every young teacher is waiting in the beautiful empty square .
Zwei Clowns tanzen draußen .	Two clowns are dancing outside .
Diese müde Ärztin schläft .	This tired doctor is sleeping .
Eine graue Katze spielt wieder .	A gray cat is playing again .
Diese junge Frau weint auf einem Teppich .	This young woman is crying on a carpet .
Die glücklichen Mechaniker schlafen hinter dem Museum .	The happy mechanics are sleeping behind the museum .
Drei freundliche Ärztinnen tanzen hinter einem Geschäft .	Three friendly doctors are dancing behind a shop .
Acht freundliche junge Ärztinnen kochen im vollen alten Restaurant .	Eight friendly young doctors are cooking in the full old restaurant .
Die müden Schüler spielen zusammen .	The tired pupils are playing together .
Ein Mädchen ruht sich hinter einer Schule aus .	A girl is resting behind a school .
Dieser junge Bauer singt .	This young farmer is singing .
Eine schöne müde Frau singt hinter einer Mauer .	A beautiful tired woman is singing behind a wall .
Ein Esel grast hinter dem großen Stall .	A donkey is grazing behind the big stable .
Einige junge Mütter liegen auf dem weichen Bett .	Some young mothers are lying on the soft bed .
Vier Lämmer grasen auf dem Feld .	Four lambs are grazing in the field .
Der dicke Hund bellt im Hof .	The fat dog is barking in the courtyard .
Fünf Ärztinnen erwachen wieder .	Five doctors are waking up again .
Der mutige junge Onkel schläft wieder .	The brave young uncle is sleeping again .
Alle Jungen lachen neben dem hohen Baum .	All the boys are laughing next to the tall tree .
Die dünnen Jungen ruhen sich aus .	The thin boys are resting .
Ein müder Junge lächelt .	A tired boy is smiling .
Ein dünner Clown weint vor der Kirche .	A thin clown is crying in front of the church .
Viele neugierige Affen spielen in einem Wald .	Many curious monkeys are playing in a forest .
Das schöne Mädchen spielt .	The beautiful girl is playing .
Eine große Katze spielt neben dem Turm .	A big cat is playing next to the tower .
Einige Gärtner sitzen am Tisch .	Some gardeners are sitting at the table .
Diese älteren Männer schreien .	These elderly men are shouting .
Ein Hund bellt unter dem Stuhl .	A dog is barking under the chair .
Ein Hund bellt vor der Schule .	A dog is barking in front of the school .
Der junge Koch tanzt .	The young chef is dancing .
Eine Lehrerin lächelt draußen .	A teacher is smiling outside .
Die jungen Mechaniker erwachen .	The young mechanics are waking up .
Der starke Bauer arbeitet draußen .	The strong farmer is working outside .
Mehrere Katzen liegen auf einem Bett .	Several cats are lying on a bed .
Ein schönes Mädchen ruht sich vor dem großen Hotel aus .	A beautiful girl is resting in front of the big hotel .
Die traurigen Arbeiter arbeiten auf einer schmalen Straße .	The sad workers are working on a narrow street .
Der Koch schläft .	The chef is sleeping .
Ein älterer Musiker schwimmt im langen Fluss .	An elderly musician is swimming in the long river .
Dieser Großvater schläft .	This grandfather is sleeping .
Einige junge Musiker arbeiten auf der Brücke .	Some young musicians are working on the bridge .
Der junge Bauer wartet neben einem Haus .	The young farmer is waiting next to a house .
Einige Mütter spazieren im Garten .	Some mothers are walking in the garden .
Dieser Tourist kocht .	This tourist is cooking .
Der ältere Mann liegt am schönen ruhigen Strand .	The elderly man is lying on the beautiful quiet beach .
Ein schmutziger Schüler spaziert im Park .	A dirty pupil is walking in the park .
Sieben kleine Kinder spielen wieder .	Seven small children are playing again .
Viele schöne Mädchen lernen wieder .	Many beautiful girls are studying again .
Alle Polizisten kochen im Restaurant .	All the police officers are cooking in the restaurant .
Einige kleine nasse Vögel singen .	Some small wet birds are singing .
Ein trauriger Bauer schläft am großen Hafen .	A sad farmer is sleeping at the big harbor .
Der schwarze Hund bellt vor einem Haus .	The black dog is barking in front of a house .
Einige Mütter arbeiten wieder .	Some mothers are working again .
Ein Tourist singt wieder .	A tourist is singing again .
Die jungen Gärtner warten wieder .	The young gardeners are waiting again .
Der Hund bellt im Dorf .	The dog is barking in the village .
Ein Esel grast auf dem Hügel .	A donkey is grazing on the hill .
Einige junge Frauen warten unter einer Brücke .	Some young women are waiting under a bridge .
Die Mutter schwimmt wieder .	The mother is swimming again .
Der Kellner lächelt wieder .	The waiter is smiling again .
Zwei stolze Jungen lernen am Tisch .	Two proud boys are studying at the table .
Eine junge Ärztin schwimmt im Schwimmbecken .	A young doctor is swimming in the swimming pool .
Die müden Männer angeln .	The tired men are fishing .
Eine Schauspielerin weint in einem kleinen modernen Büro .	An actress is crying in a small modern office .
Die Pferde grasen hinter dem hohen Zaun .	The horses are grazing behind the tall fence .
Der mutige junge Student lächelt im grünen Wald .	The brave young student is smiling in the green forest .
Zwei nasse Hunde liegen auf einem Bett .	Two wet dogs are lying on a bed .
Ein Baby lächelt .	A baby is smiling .
Der junge Gärtner singt in der neuen Bibliothek .	The young gardener is singing in the new library .
Sechs junge Fischer lächeln neben einem schönen Baum .	Six young fishermen are smiling next to a beautiful tree .
Ein freundlicher Großvater angelt am See .	A friendly grandfather is fishing at the lake .
Diese Onkel ruhen sich hinter dem Schloss aus .	These uncles are resting behind the castle .
Eine Gans schwimmt draußen .	A goose is swimming outside .
Das kleine Kind weint im Haus .	The small child is crying in the house .
Der Clown tanzt neben der weißen Kirche .	The clown is dancing next to the white church .
Eine müde Mutter schwimmt im Fluss .	A tired mother is swimming in the river .
Die Großmutter schwimmt wieder .	The grandmother is swimming again .
Drei mutige Großväter angeln auf der Brücke .	Three brave grandfathers are fishing on the bridge .
Vier Mechaniker warten vor der Schule .	Four mechanics are waiting in front of the school .
Zwei junge Arbeiter tanzen in einem Dorf .	Two young workers are dancing in a village .
Fünf Tänzerinnen schwimmen .	Five dancers are swimming .
Die traurigen jungen Fotografen arbeiten im Krankenhaus .	The sad young photographers are working in the hospital .
Ein Hund schwimmt in einem kalten Fluss .	A dog is swimming in a cold river .
Ein hungriges altes Schwein schläft wieder .	A hungry old pig is sleeping again .
Einige Bauern lachen hinter dem kleinen Geschäft .	Some farmers are laughing behind the small shop .
Der mutige Großvater angelt am See .	The brave grandfather is fishing at the lake .
Jede mutige junge Nachbarin lächelt in der Küche .	Every brave young neighbor is smiling in the kitchen .
Diese neugierige Katze liegt auf dem Sofa .	This curious cat is lying on the sofa .
Drei junge Fotografen erwachen wieder .	Three young photographers are waking up again .
Eine ältere Lehrerin gähnt .	An elderly teacher is yawning .
Eine braune Ziege schläft hinter dem weißen Zaun .	A brown goat is sleeping behind the white fence .
Dieses durstige Mädchen spielt wieder .	This thirsty girl is playing again .
Ein Mann lächelt .	A man is smiling .
Der junge Wanderer schläft auf der Wiese .	The young hiker is sleeping in the meadow .
Dieser junge Clown steht hinter einem Geschäft .	This young clown is standing behind a shop .
Ein Maler lacht .	A painter is laughing .
Zehn traurige Nachbarinnen tanzen .	Ten sad neighbors are dancing .
Ein mutiger Schüler lernt am runden Tisch .	A brave pupil is studying at the round table .
Der Fuchs spielt .	The fox is playing .
Eine kleine Katze spielt hinter der kleinen Hütte .	A small cat is playing behind the small hut .
Zwei mutige junge Studenten ruhen sich neben dem Zaun aus .	Two brave young students are resting next to the fence .
Der Bär spielt wieder .	The bear is playing again .
Der junge Onkel arbeitet im Park .	The young uncle is working in the park .
Der stolze Onkel singt in der Küche .	The proud uncle is singing in the kitchen .
Die Frau lächelt wieder .	The woman is smiling again .
Ein Tourist liegt unter dem hohen alten Baum .	A tourist is lying under the tall old tree .
Die schwarzen Kühe grasen auf einer grünen Wiese .	The black cows are grazing in a green meadow .
Ein schönes stolzes Mädchen spielt im Dorf .	A beautiful proud girl is playing in the village .
Der junge Wanderer schwimmt im See .	The young hiker is swimming in the lake .
Der Bauer lächelt wieder .	The farmer is smiling again .
Ein Mädchen tanzt hinter der Kirche .	A girl is dancing behind the church .
Ein Student arbeitet hinter dem Museum .	A student is working behind the museum .
Die Nachbarin spaziert im Park .	The neighbor is walking in the park .
Alle mutigen Köche stehen auf .	All the brave chefs are getting up .
Die junge blonde Lehrerin arbeitet .	The young blond teacher is working .
Zwei junge Väter lachen hinter der alten Hütte .	Two young fathers are laughing behind the old hut .
Dieser durstige Wanderer steht neben dem Haus .	This thirsty hiker is standing next to the house .
Ein berühmter Maler wartet im Hof .	A famous painter is waiting in the courtyard .
Einige junge Hunde bellen .	Some young dogs are barking .
Ein dünnes Pferd grast hinter einem Stall .	A thin horse is grazing behind a stable .
Eine freundliche Tänzerin erwacht draußen .	A friendly dancer is waking up outside .
Dieser müde Bäcker tanzt .	This tired baker is dancing .
Acht hungrige Jungen schreien neben einer Hütte .	Eight hungry boys are shouting next to a hut .
Das schmutzige Mädchen schreit in einem Wald .	The dirty girl is shouting in a forest .
Ein Junge angelt .	A boy is fishing .
Ein nasser alter Hund bellt .	A wet old dog is barking .
Der Musiker lächelt .	The musician is smiling .
Die Fotografen lächeln vor dem Bahnhof .	The photographers are smiling in front of the station .
Ein Onkel ruht sich hinter der Mauer aus .	An uncle is resting behind the wall .
Ein Matrose kocht .	A sailor is cooking .
Die Kuh grast .	The cow is grazing .
Der glückliche Onkel ruht sich aus .	The happy uncle is resting .
Die neugierigen Schüler lernen in der alten Schule .	The curious pupils are studying in the old school .
Ein trauriger alter Esel grast .	A sad old donkey is grazing .
Drei Kinder lächeln hinter der Mauer .	Three children are smiling behind the wall .
Der traurige junge Matrose gähnt wieder .	The sad young sailor is yawning again .
Ein Fotograf lacht .	A photographer is laughing .
Sechs junge Studenten stehen neben dem Zelt .	Six young students are standing next to the tent .
Das Lamm grast hinter dem Zaun .	The lamb is grazing behind the fence .
Der berühmte Koch schwimmt im Schwimmbecken .	The famous chef is swimming in the swimming pool .
Das Kind steht hinter einer Schule .	The child is standing behind a school .
Ein freundlicher Großvater lacht draußen .	A friendly grandfather is laughing outside .
Ein Schüler singt draußen .	A pupil is singing outside .
Der Hund bellt neben dem Zelt .	The dog is barking next to the tent .
Die Mechaniker spazieren im Dorf .	The mechanics are walking in the village .
Die Bäcker tanzen zusammen .	The bakers are dancing together .
Mehrere kleine Hunde ruhen sich draußen aus .	Several small dogs are resting outside .
Zwei Großväter angeln am Fluss .	Two grandfathers are fishing at the river .
Die Tänzerin lächelt .	The dancer is smiling .
Die Musiker schwimmen im See .	The musicians are swimming in the lake .
Einige Kellner erwachen .	Some waiters are waking up .
Der ältere Matrose tanzt im Geschäft .	The elderly sailor is dancing in the shop .
Der junge Polizist lacht auf der schmutzigen Straße .	The young police officer is laughing on the dirty street .
Die glücklichen Schüler spazieren an einem ruhigen Strand .	The happy pupils are walking on a quiet beach .
Dieser Polizist schreit draußen .	This police officer is shouting outside .
Die faulen Schüler stehen in einem Hof .	The lazy pupils are standing in a courtyard .
Eine Frau weint auf der großen Wiese .	A woman is crying in the big meadow .
Zwei schöne Mädchen sitzen auf der Wiese .	Two beautiful girls are sitting in the meadow .
Ein junger Maler erwacht draußen .	A young painter is waking up outside .
Eine Kuh grast draußen .	A cow is grazing outside .
Eine kleine Ziege grast auf einem Feld .	A small goat is grazing in a field .
Dieser Student lernt wieder .	This student is studying again .
Die schmutzigen Jungen lernen in einer modernen Schule .	The dirty boys are studying in a modern school .
Drei junge Väter lachen im Büro .	Three young fathers are laughing in the office .
Ein glücklicher junger Vater spaziert in einem Garten .	A happy young father is walking in a garden .
Die müden Kellner schlafen vor einem Zelt .	The tired waiters are sleeping in front of a tent .
Der ältere Fischer sitzt auf der langen Straße .	The elderly fisherman is sitting on the long street .
Ein trauriger junger Bäcker sitzt im Park .	A sad young baker is sitting in the park .
Drei freundliche Wanderer kochen in einem Restaurant .	Three friendly hikers are cooking in a restaurant .
Eine dünne alte Ziege grast auf einem Hügel .	A thin old goat is grazing on a hill .
Sechs Wanderer sitzen vor dem Schloss .	Six hikers are sitting in front of the castle .
Ein junger Tourist angelt .	A young tourist is fishing .
Zehn junge Polizisten lachen unter der alten Brücke .	Ten young police officers are laughing under the old bridge .
Ein Koch wartet auf einer Brücke .	A chef is waiting on a bridge .
Mehrere nasse Gänse schwimmen in einem Schwimmbecken .	Several wet geese are swimming in a swimming pool .
Der glückliche junge Musiker spaziert auf der Brücke .	The happy young musician is walking on the bridge .
Ein Bäcker steht neben einem Haus .	A baker is standing next to a house .
Ein junger Gärtner schläft .	A young gardener is sleeping .
Die Ziege grast hinter einem Zaun .	The goat is grazing behind a fence .
Die schöne Frau schreit vor dem Bahnhof .	The beautiful woman is shouting in front of the station .
Dieser junge Polizist schwimmt im Schwimmbecken .	This young police officer is swimming in the swimming pool .
Die Ziege grast .	The goat is grazing .
Ein hungriger junger Student lernt im Büro .	A hungry young student is studying in the office .
Ein Onkel arbeitet neben dem Turm .	An uncle is working next to the tower .
Eine Ärztin singt neben dem kleinen weißen Zaun .	A doctor is singing next to the small white fence .
Alle freundlichen jungen Musiker stehen vor dem Museum .	All the friendly young musicians are standing in front of the museum .
Die durstigen Kamele ruhen sich aus .	The thirsty camels are resting .
Ein Mann erwacht .	A man is waking up .
Die schönen stolzen Mädchen warten vor dem Zelt .	The beautiful proud girls are waiting in front of the tent .
Ein Musiker singt vor der Kirche .	A musician is singing in front of the church .
Die jungen Frauen tanzen zusammen .	The young women are dancing together .
Ein durstiges Lamm grast auf dem Feld .	A thirsty lamb is grazing in the field .
Ein Wanderer spaziert im Wald .	A hiker is walking in the forest .
Das kleine graue Kaninchen schläft auf einem Feld .	The small gray rabbit is sleeping in a field .
Ein durstiger Schüler lernt in der modernen Schule .	A thirsty pupil is studying in the modern school .
Der Koch arbeitet vor einem Zelt .	The chef is working in front of a tent .
Die schönen müden Tänzerinnen arbeiten vor dem roten Zelt .	The beautiful tired dancers are working in front of the red tent .
Die großen Lämmer grasen draußen .	The big lambs are grazing outside .
Der junge Fischer lacht im Park .	The young fisherman is laughing in the park .
Ein trauriger junger Clown tanzt im Haus .	A sad young clown is dancing in the house .
Zwei dünne Ziegen grasen hinter dem großen Zaun .	Two thin goats are grazing behind the big fence .
Ein müder Mann ruht sich auf dem Feld aus .	A tired man is resting in the field .
Der faule Student schwimmt im See .	The lazy student is swimming in the lake .
Der Polizist schwimmt im kalten Fluss .	The police officer is swimming in the cold river .
Ein freundlicher junger Koch tanzt hinter der Kirche .	A friendly young chef is dancing behind the church .
Eine müde Großmutter lächelt neben dem Zaun .	A tired grandmother is smiling next to the fence .
Eine hungrige Ziege ruht sich auf der kleinen grünen Wiese aus .	A hungry goat is resting in the small green meadow .
Vier traurige junge Musiker tanzen .	Four sad young musicians are dancing .
Alle Schauspielerinnen tanzen vor einem Brunnen .	All the actresses are dancing in front of a fountain .
Drei Wanderer arbeiten draußen .	Three hikers are working outside .
Jeder junge Tourist angelt auf der Brücke .	Every young tourist is fishing on the bridge .
Die kleinen Kinder ruhen sich unter der alten Brücke aus .	The small children are resting under the old bridge .
Einige Affen spielen auf einem Feld .	Some monkeys are playing in a field .
Ein trauriger Junge angelt am See .	A sad boy is fishing at the lake .
Ein Kellner steht auf .	A waiter is getting up .
Der junge Matrose angelt am großen tiefen Fluss .	The young sailor is fishing at the big deep river .
Alle Bäcker lachen hinter der Kirche .	All the bakers are laughing behind the church .
Ein mutiges Mädchen kocht .	A brave girl is cooking .
Mehrere Fischer schwimmen in einem See .	Several fishermen are swimming in a lake .
Ein Hund bellt neben der Bank .	A dog is barking next to the bench .
Dieser junge Clown wartet unter einem Baum .	This young clown is waiting under a tree .
Drei schöne Frauen arbeiten zusammen .	Three beautiful women are working together .
Ein junger Feuerwehrmann ruht sich vor dem Hotel aus .	A young firefighter is resting in front of the hotel .
Die ältere Schauspielerin sitzt neben der Bank .	The elderly actress is sitting next to the bench .
Ein neugieriger Student singt neben dem Brunnen .	A curious student is singing next to the fountain .
Jeder junge Bauer steht wieder auf .	Every young farmer is getting up again .
Mehrere Polizisten schreien .	Several police officers are shouting .
Ein weißes Pferd grast hinter dem Stall .	A white horse is grazing behind the stable .
Zwei Jungen singen neben dem Turm .	Two boys are singing next to the tower .
Der junge Matrose schreit hinter einem Geschäft .	The young sailor is shouting behind a shop .
Ein müder Gärtner tanzt unter der langen alten Brücke .	A tired gardener is dancing under the long old bridge .
Diese Ärztinnen erwachen .	These doctors are waking up .
Das Baby weint draußen .	The baby is crying outside .
Die dünnen Hunde bellen hinter der alten Hütte .	The thin dogs are barking behind the old hut .
Die Schauspielerin tanzt im kleinen modernen Krankenhaus .	The actress is dancing in the small modern hospital .
Ein Student steht vor dem Hotel .	A student is standing in front of the hotel .
Der junge Koch liegt auf dem Bett .	The young chef is lying on the bed .
Die mutige junge Tänzerin lacht wieder .	The brave young dancer is laughing again .
Ein älterer Gärtner lächelt neben der schönen Bank .	An elderly gardener is smiling next to the beautiful bench .
Ein trauriger Feuerwehrmann steht auf der Brücke .	A sad firefighter is standing on the bridge .
Der mutige Hund bellt im schönen Garten .	The brave dog is barking in the beautiful garden .
Einige durstige Jungen lächeln .	Some thirsty boys are smiling .
Ein Kind weint auf einem grünen Hügel .	A child is crying on a green hill .
Dieser glückliche Junge lernt .	This happy boy is studying .
Eine Katze spielt vor dem kleinen Schloss .	A cat is playing in front of the small castle .
Die junge Mutter wartet auf einer Wiese .	The young mother is waiting in a meadow .
Der freundliche Clown weint vor dem Haus .	The friendly clown is crying in front of the house .
Drei Studenten kochen wieder .	Three students are cooking again .
Die junge Ärztin spaziert im Wald .	The young doctor is walking in the forest .
Dieser Mechaniker arbeitet .	This mechanic is working .
Diese Ärztin lächelt auf der Wiese .	This doctor is smiling in the meadow .
Die junge Lehrerin spaziert am Strand .	The young teacher is walking on the beach .
Der junge Fotograf ruht sich hinter dem kleinen Zaun aus .	The young photographer is resting behind the small fence .
Eine starke Frau tanzt im eleganten alten Hotel .	A strong woman is dancing in the elegant old hotel .
Die Ziege grast auf dem Feld .	The goat is grazing in the field .
Einige kleine Bären spielen auf der Wiese .	Some small bears are playing in the meadow .
Ein großer Esel grast auf einer Wiese .	A big donkey is grazing in a meadow .
Die Füchse spielen unter dem hohen Baum .	The foxes are playing under the tall tree .
Jeder braune Hund wartet wieder .	Every brown dog is waiting again .
Die müde Ärztin wartet .	The tired doctor is waiting .
Eine mutige Nachbarin ruht sich neben dem Baum aus .	A brave neighbor is resting next to the tree .
Der Junge angelt .	The boy is fishing .
Zehn junge Nachbarinnen singen neben der Kirche .	Ten young neighbors are singing next to the church .
Ein Matrose tanzt unter der berühmten Brücke .	A sailor is dancing under the famous bridge .
Der hungrige Löwe spielt unter einem alten Baum .	The hungry lion is playing under an old tree .
Einige glückliche Mädchen erwachen .	Some happy girls are waking up .
Zwei starke Bauern schreien draußen .	Two strong farmers are shouting outside .
Ein blondes Mädchen spielt draußen .	A blond girl is playing outside .
Ein kleiner Hund bellt am Strand .	A small dog is barking on the beach .
Eine Lehrerin steht auf einem grünen Hügel .	A teacher is standing on a green hill .
Fünf Mädchen lernen am Tisch .	Five girls are studying at the table .
Ein stolzer junger Bauer kocht in der Küche .	A proud young farmer is cooking in the kitchen .
Die Krankenschwester arbeitet wieder .	The nurse is working again .
Eine blonde Schauspielerin weint .	A blond actress is crying .
Eine mutige Ärztin singt .	A brave doctor is singing .
Ein kleiner Hund schwimmt im Fluss .	A small dog is swimming in the river .
Einige Kühe ruhen sich auf der Wiese aus .	Some cows are resting in the meadow .
Eine Lehrerin spaziert auf der kleinen berühmten Brücke .	A teacher is walking on the small famous bridge .
Die neugierigen Affen spielen draußen .	The curious monkeys are playing outside .
Viele Onkel angeln am kleinen Fluss .	Many uncles are fishing at the small river .
Eine Frau schläft in einem Garten .	A woman is sleeping in a garden .
Einige schwarze Ziegen grasen wieder .	Some black goats are grazing again .
Ein durstiger Junge weint .	A thirsty boy is crying .
Ein müder Matrose lacht vor dem Restaurant .	A tired sailor is laughing in front of the restaurant .
Einige Schauspielerinnen liegen auf der Bank .	Some actresses are lying on the bench .
Ein freundlicher Gärtner steht unter dem Baum .	A friendly gardener is standing under the tree .
Ein Großvater schwimmt .	A grandfather is swimming .
Ein älterer Fischer lächelt vor dem Museum .	An elderly fisherman is smiling in front of the museum .
Ein kleiner Hund bellt draußen .	A small dog is barking outside .
Die freundliche junge Ärztin lächelt wieder .	The friendly young doctor is smiling again .
Ein Kind schreit wieder .	A child is shouting again .
Einige elegante Frauen schreien hinter der Kirche .	Some elegant women are shouting behind the church .
Eine Ziege schläft auf dem kleinen Hügel .	A goat is sleeping on the small hill .
Der junge Matrose singt vor dem kleinen teuren Hotel .	The young sailor is singing in front of the small expensive hotel .
Ein mutiger Kellner lächelt .	A brave waiter is smiling .
Ein großes Pferd grast .	A big horse is grazing .
Alle dicken Katzen schlafen .	All the fat cats are sleeping .
Drei mutige Tänzerinnen lachen neben einem Zaun .	Three brave dancers are laughing next to a fence .
Vier kleine Hunde bellen .	Four small dogs are barking .
Das hungrige Mädchen spielt .	The hungry girl is playing .
Ein Musiker kocht .	A musician is cooking .
Ein junger Matrose schläft am Hafen .	A young sailor is sleeping at the harbor .
Eine Frau weint draußen .	A woman is crying outside .
Ein alter Hund bellt auf dem Feld .	An old dog is barking in the field .
Der Großvater sitzt neben dem Haus .	The grandfather is sitting next to the house .
Viele Schüler tanzen am Hafen .	Many pupils are dancing at the harbor .
Der Esel grast .	The donkey is grazing .
Ein blondes Kind lächelt hinter dem Museum .	A blond child is smiling behind the museum .
Das durstige alte Pferd grast auf einem Hügel .	The thirsty old horse is grazing on a hill .
Die Lehrerinnen lachen .	The teachers are laughing .
Eine schöne Schauspielerin sitzt auf der Bank .	A beautiful actress is sitting on the bench .
Ein Koch lacht in einem Hof .	A chef is laughing in a courtyard .
Der Fischer arbeitet auf dem grünen Hügel .	The fisherman is working on the green hill .
Drei Jungen singen .	Three boys are singing .
Eine junge Nachbarin kocht draußen .	A young neighbor is cooking outside .
Der kleine dicke Bär spielt unter dem Baum .	The small fat bear is playing under the tree .
Ein großer Bär spielt auf dem großen Feld .	A big bear is playing in the big field .
Die Schüler lernen zusammen .	The pupils are studying together .
Eine weiße Ziege grast auf dem Hügel .	A white goat is grazing on the hill .
Ein Clown kocht in der Küche .	A clown is cooking in the kitchen .
Diese schöne mutige Schauspielerin spaziert im alten Dorf .	This beautiful brave actress is walking in the old village .
Ein älterer Tourist tanzt .	An elderly tourist is dancing .
Ein trauriger Matrose kocht im Hotel .	A sad sailor is cooking in the hotel .
Die jungen Kellner liegen auf einem schwarzen Sofa .	The young waiters are lying on a black sofa .
Viele Touristen angeln draußen .	Many tourists are fishing outside .
Der Maler singt .	The painter is singing .
Der alte Löwe spielt wieder .	The old lion is playing again .
Ein freundlicher junger Kellner erwacht wieder .	A friendly young waiter is waking up again .
Drei Großmütter tanzen zusammen .	Three grandmothers are dancing together .
Die Onkel singen wieder .	The uncles are singing again .
Ein Bauer schwimmt im großen Schwimmbecken .	A farmer is swimming in the big swimming pool .
Jeder Arbeiter arbeitet .	Every worker is working .
Ein hungriger Schüler lernt .	A hungry pupil is studying .
Drei elegante Schauspielerinnen weinen .	Three elegant actresses are crying .
Die junge Nachbarin singt vor dem Geschäft .	The young neighbor is singing in front of the shop .
Der traurige Hund bellt vor der großen weißen Kirche .	The sad dog is barking in front of the big white church .
Ein freundlicher Clown sitzt hinter einem Museum .	A friendly clown is sitting behind a museum .
Eine Frau arbeitet .	A woman is working .
Ein Junge lacht im Garten .	A boy is laughing in the garden .
Einige mutige Hunde bellen draußen .	Some brave dogs are barking outside .
Ein junger Vater liegt auf dem Sofa .	A young father is lying on the sofa .
Ein schöner Vogel singt wieder .	A beautiful bird is singing again .
Die glückliche Großmutter steht in einem Dorf .	The happy grandmother is standing in a village .
Ein neugieriger Student lernt wieder .	A curious student is studying again .
Jeder weiße Hund bellt wieder .	Every white dog is barking again .
Eine müde junge Krankenschwester kocht im Hotel .	A tired young nurse is cooking in the hotel .
Der junge Mechaniker schläft neben dem Zelt .	The young mechanic is sleeping next to the tent .
Der glückliche Junge sitzt vor dem Brunnen .	The happy boy is sitting in front of the fountain .
Der schmutzige Hund bellt .	The dirty dog is barking .
Zwei Bauern tanzen draußen .	Two farmers are dancing outside .
Ein junger Clown lacht wieder .	A young clown is laughing again .
Ein stolzer junger Bauer wartet .	A proud young farmer is waiting .
Die müden Väter warten hinter dem Schloss .	The tired fathers are waiting behind the castle .
Die Mutter liegt auf dem Teppich .	The mother is lying on the carpet .
Diese durstigen Lämmer grasen .	These thirsty lambs are grazing .
Ein Tourist spaziert am Strand .	A tourist is walking on the beach .
Ein junger Bauer arbeitet hinter der Kirche .	A young farmer is working behind the church .
Ein müder Arbeiter schwimmt im See .	A tired worker is swimming in the lake .
Die alte Ziege grast auf einer kleinen Wiese .	The old goat is grazing in a small meadow .
Ein junger Clown kocht .	A young clown is cooking .
Ein Affe spielt unter dem Baum .	A monkey is playing under the tree .
Ein müder Kellner lächelt .	A tired waiter is smiling .
Diese Feuerwehrmänner schlafen vor der Schule .	These firefighters are sleeping in front of the school .
Viele freundliche junge Wanderer tanzen im eleganten Hotel .	Many friendly young hikers are dancing in the elegant hotel .
Ein Polizist arbeitet vor dem Restaurant .	A police officer is working in front of the restaurant .
Die Touristen schwimmen draußen .	The tourists are swimming outside .
Einige Maler stehen vor dem Restaurant .	Some painters are standing in front of the restaurant .
Ein kleines mutiges Kind schreit vor dem Brunnen .	A small brave child is shouting in front of the fountain .
Der Tourist angelt draußen .	The tourist is fishing outside .
Eine Krankenschwester wartet neben der kleinen Statue .	A nurse is waiting next to the small statue .
Einige Gärtner arbeiten zusammen .	Some gardeners are working together .
Ein junger Polizist spaziert im Wald .	A young police officer is walking in the forest .
Der junge Fotograf steht hinter dem Geschäft .	The young photographer is standing behind the shop .
Ein Clown lächelt vor dem Restaurant .	A clown is smiling in front of the restaurant .
Eine junge Krankenschwester kocht in einem alten Restaurant .	A young nurse is cooking in an old restaurant .
Ein trauriges Kind schreit wieder .	A sad child is shouting again .
Die mutigen Schüler tanzen vor dem gelben Zelt .	The brave pupils are dancing in front of the yellow tent .
Ein Bauer schreit .	A farmer is shouting .
Der Matrose ruht sich neben dem Brunnen aus .	The sailor is resting next to the fountain .
Der alte Hund bellt unter einem Stuhl .	The old dog is barking under a chair .
Das kleine Kind schreit vor einem Restaurant .	The small child is shouting in front of a restaurant .
Die junge Lehrerin liegt auf dem großen weichen Sofa .	The young teacher is lying on the big soft sofa .
Der dicke Hund bellt neben einer kleinen Hütte .	The fat dog is barking next to a small hut .
Fünf glückliche Touristen angeln am großen kalten Fluss .	Five happy tourists are fishing at the big cold river .
Ein Löwe spielt auf dem Feld .	A lion is playing in the field .
Die Ärztin liegt auf der Bank .	The doctor is lying on the bench .
Die Frau angelt am Fluss .	The woman is fishing at the river .
Ein junger Fischer lacht .	A young fisherman is laughing .
Der traurige Junge lernt in der Schule .	The sad boy is studying in the school .
Die jungen Wanderer singen .	The young hikers are singing .
Viele junge Kellner liegen unter einem Baum .	Many young waiters are lying under a tree .
Ein schwarzes Pferd grast .	A black horse is grazing .
Einige junge Krankenschwestern arbeiten im schönen Park .	Some young nurses are working in the beautiful park .
Die Großmutter erwacht .	The grandmother is waking up .
Ein Fotograf wartet .	A photographer is waiting .
Der Koch arbeitet wieder .	The chef is working again .
Das alte Pferd grast auf dem Hügel .	The old horse is grazing on the hill .
Zwei Frauen arbeiten wieder .	Two women are working again .
Einige Hunde bellen hinter einer großen Schule .	Some dogs are barking behind a big school .
Ein junger Fischer liegt auf dem teuren Teppich .	A young fisherman is lying on the expensive carpet .
Die schmutzigen Mädchen weinen auf der grünen Wiese .	The dirty girls are crying in the green meadow .
Ein freundlicher Matrose angelt am kleinen Fluss .	A friendly sailor is fishing at the small river .
Zwei mutige Onkel kochen im alten Restaurant .	Two brave uncles are cooking in the old restaurant .
Eine müde Frau wartet .	A tired woman is waiting .
Der Junge weint vor dem Bahnhof .	The boy is crying in front of the station .
Viele Hunde bellen im ruhigen Garten .	Many dogs are barking in the quiet garden .
Ein Feuerwehrmann singt am Strand .	A firefighter is singing on the beach .
Alle Kinder weinen auf dem Hügel .	All the children are crying on the hill .
Alle schönen neugierigen Mädchen singen im Museum .	All the beautiful curious girls are singing in the museum .
Zwei graue Katzen spielen neben der kleinen Hütte .	Two gray cats are playing next to the small hut .
Der Mechaniker wartet in der Stadt .	The mechanic is waiting in the city .
Eine müde Krankenschwester arbeitet neben der Statue .	A tired nurse is working next to the statue .
Ein junger Fischer lächelt in der neuen Schule .	A young fisherman is smiling in the new school .
Alle Katzen erwachen .	All the cats are waking up .
Ein Fotograf lächelt auf dem grünen Feld .	A photographer is smiling in the green field .
Alle jungen Polizisten stehen auf .	All the young police officers are getting up .
Dieser schmutzige Schüler steht wieder auf .	This dirty pupil is getting up again .
Ein Bauer schreit neben der Statue .	A farmer is shouting next to the statue .
Ein müder Großvater ruht sich aus .	A tired grandfather is resting .
Ein freundlicher Wanderer lächelt .	A friendly hiker is smiling .
Eine Tänzerin liegt unter einem schönen grünen Baum .	A dancer is lying under a beautiful green tree .
Ein Junge weint neben der Statue .	A boy is crying next to the statue .
Acht durstige Touristen singen wieder .	Eight thirsty tourists are singing again .
Die durstigen Arbeiter sitzen am großen Hafen .	The thirsty workers are sitting at the big harbor .
Einige freundliche Lehrerinnen lächeln .	Some friendly teachers are smiling .
Der Vater angelt .	The father is fishing .
Eine Frau weint .	A woman is crying .
Mehrere junge Tänzerinnen sitzen hinter einem Schloss .	Several young dancers are sitting behind a castle .
Ein müder Fotograf lacht vor dem Restaurant .	A tired photographer is laughing in front of the restaurant .
Ein junger Kellner schwimmt im Fluss .	A young waiter is swimming in the river .
Diese Jungen erwachen wieder .	These boys are waking up again .
Ein müder Junge lernt draußen .	A tired boy is studying outside .
Acht junge Polizisten singen .	Eight young police officers are singing .
Der müde junge Clown spaziert auf der grünen Wiese .	The tired young clown is walking in the green meadow .
Ein Gärtner steht in einem großen Garten .	A gardener is standing in a big garden .
Einige Touristen schwimmen im Fluss .	Some tourists are swimming in the river .
Viele junge Krankenschwestern singen .	Many young nurses are singing .
Ein mutiger Maler arbeitet im kleinen berühmten Hotel .	A brave painter is working in the small famous hotel .
Einige schmutzige Jungen lernen in der Schule .	Some dirty boys are studying in the school .
Dieser Onkel lächelt hinter dem Haus .	This uncle is smiling behind the house .
Die glücklichen Touristen schlafen draußen .	The happy tourists are sleeping outside .
Eine Kuh schläft auf dem Feld .	A cow is sleeping in the field .
Der Großvater singt .	The grandfather is singing .
Alle Feuerwehrmänner ruhen sich neben dem Baum aus .	All the firefighters are resting next to the tree .
Der berühmte Koch lacht in der Bibliothek .	The famous chef is laughing in the library .
Die blonden Lehrerinnen stehen vor dem Museum .	The blond teachers are standing in front of the museum .
Mehrere glückliche Arbeiter liegen auf dem Teppich .	Several happy workers are lying on the carpet .
Ein trauriger Schüler spaziert auf einem Platz .	A sad pupil is walking in a square .
Der hungrige junge Student singt im großen Zimmer .	The hungry young student is singing in the big room .
Eine Tänzerin schwimmt draußen .	A dancer is swimming outside .
Zwei starke Esel grasen hinter dem Zaun .	Two strong donkeys are grazing behind the fence .
Der müde Fischer tanzt .	The tired fisherman is dancing .
Die Schauspielerinnen liegen auf dem schönen roten Bett .	The actresses are lying on the beautiful red bed .
Jede junge Mutter lächelt neben einem Zaun .	Every young mother is smiling next to a fence .
Vier Jungen warten im Dorf .	Four boys are waiting in the village .
Ein großes Lamm ruht sich auf dem Hügel aus .	A big lamb is resting on the hill .
Der glückliche Bauer lächelt am Hafen .	The happy farmer is smiling at the harbor .
Die jungen Väter lachen wieder .	The young fathers are laughing again .
Der junge Kellner lacht im Dorf .	The young waiter is laughing in the village .
Ein junger Student schwimmt wieder .	A young student is swimming again .
Alle Matrosen tanzen wieder .	All the sailors are dancing again .
Eine Kuh schläft auf der Wiese .	A cow is sleeping in the meadow .
Alle jungen Mütter warten am kleinen Bahnhof .	All the young mothers are waiting at the small station .
Viele junge Matrosen singen draußen .	Many young sailors are singing outside .
Ein Maler schwimmt im Fluss .	A painter is swimming in the river .
Ein schönes Mädchen lernt .	A beautiful girl is studying .
Zwei Onkel warten neben dem Haus .	Two uncles are waiting next to the house .
Ein Kellner lächelt im Dorf .	A waiter is smiling in the village .
Ein junger Gärtner arbeitet vor dem schönen modernen Museum .	A young gardener is working in front of the beautiful modern museum .
Die Großmutter kocht in der dunklen Küche .	The grandmother is cooking in the dark kitchen .
Ein junger Onkel kocht in der Küche .	A young uncle is cooking in the kitchen .
Ein Matrose schreit im Hof .	A sailor is shouting in the courtyard .
Ein Großvater lächelt .	A grandfather is smiling .
Die Männer arbeiten .	The men are working .
Ein junger Arbeiter lächelt wieder .	A young worker is smiling again .
Einige Großmütter arbeiten vor dem neuen Restaurant .	Some grandmothers are working in front of the new restaurant .
Ein älterer Matrose arbeitet im Garten .	An elderly sailor is working in the garden .
Eine alte weiße Ziege grast auf dem Hügel .	An old white goat is grazing on the hill .
Eine glückliche junge Tänzerin kocht .	A happy young dancer is cooking .
Ein trauriger Musiker arbeitet neben dem Zelt .	A sad musician is working next to the tent .
Der müde Fotograf ruht sich wieder aus .	The tired photographer is resting again .
Neun freundliche Tänzerinnen tanzen vor der Schule .	Nine friendly dancers are dancing in front of the school .
Viele stolze Großmütter schwimmen .	Many proud grandmothers are swimming .
Alle traurigen Großmütter kochen zusammen .	All the sad grandmothers are cooking together .
Einige Matrosen lächeln hinter dem Baum .	Some sailors are smiling behind the tree .
Eine Mutter sitzt in einem Garten .	A mother is sitting in a garden .
Diese freundlichen jungen Bauern schlafen draußen .	These friendly young farmers are sleeping outside .
Der mutige Fischer singt wieder .	The brave fisherman is singing again .
Ein Junge spielt hinter dem Geschäft .	A boy is playing behind the shop .
Fünf kleine Kinder gähnen .	Five small children are yawning .
Die traurige Nachbarin wartet unter der Brücke .	The sad neighbor is waiting under the bridge .
Ein schönes durstiges Mädchen lächelt wieder .	A beautiful thirsty girl is smiling again .
Ein alter Esel grast auf der Wiese .	An old donkey is grazing in the meadow .
Ein trauriges Kind sitzt neben der großen berühmten Statue .	A sad child is sitting next to the big famous statue .
Der müde junge Matrose steht auf .	The tired young sailor is getting up .
Ein Kind tanzt im kleinen warmen Zimmer .	A child is dancing in the small warm room .
Der Feuerwehrmann wartet im Park .	The firefighter is waiting in the park .
Einige Frauen schreien .	Some women are shouting .
Der junge Vater spaziert auf der grünen Wiese .	The young father is walking in the green meadow .
Alle Männer lächeln hinter einem schönen grünen Baum .	All the men are smiling behind a beautiful green tree .
Drei Matrosen schreien vor dem schönen Hotel .	Three sailors are shouting in front of the beautiful hotel .
Der Vater ruht sich wieder aus .	The father is resting again .
Ein durstiges Mädchen wartet draußen .	A thirsty girl is waiting outside .
Das Kind singt .	The child is singing .
Der junge Wanderer gähnt .	The young hiker is yawning .
Ein freundlicher Großvater angelt draußen .	A friendly grandfather is fishing outside .
Die Großmutter arbeitet .	The grandmother is working .
Zwei Touristen lächeln .	Two tourists are smiling .
Jedes kleine Kind weint in einer Schule .	Every small child is crying in a school .
Eine Großmutter schläft im Dorf .	A grandmother is sleeping in the village .
Der traurige Student lernt .	The sad student is studying .
Vier durstige Mädchen lernen .	Four thirsty girls are studying .
Ein junger Bauer kocht im Hotel .	A young farmer is cooking in the hotel .
Das Mädchen lernt in der Schule .	The girl is studying in the school .
Ein dicker Bär erwacht .	A fat bear is waking up .
Der starke Bauer lächelt .	The strong farmer is smiling .
Ein freundlicher junger Tourist schwimmt in einem Schwimmbecken .	A friendly young tourist is swimming in a swimming pool .
Vier Touristen gähnen .	Four tourists are yawning .
Das Kind spielt vor dem großen Krankenhaus .	The child is playing in front of the big hospital .
Der Fischer arbeitet in der Stadt .	The fisherman is working in the city .
Ein Mann tanzt vor dem Museum .	A man is dancing in front of the museum .
Einige junge Ärztinnen schwimmen .	Some young doctors are swimming .
Der kleine schmutzige Hund bellt draußen .	The small dirty dog is barking outside .
Eine mutige junge Nachbarin lacht vor dem Haus .	A brave young neighbor is laughing in front of the house .
Ein Vater angelt auf einer kleinen Brücke .	A father is fishing on a small bridge .
Einige mutige Kinder liegen auf einer Bank .	Some brave children are lying on a bench .
Der junge Bäcker gähnt wieder .	The young baker is yawning again .
Ein junger Gärtner steht auf .	A young gardener is getting up .
Diese jungen Mechaniker kochen im kleinen Hotel .	These young mechanics are cooking in the small hotel .
Der mutige Schüler schreit draußen .	The brave pupil is shouting outside .
Der Matrose arbeitet in der Küche .	The sailor is working in the kitchen .
Zwei Schauspielerinnen weinen in einem Geschäft .	Two actresses are crying in a shop .
Ein Junge lernt draußen .	A boy is studying outside .
Eine große Katze spielt vor dem Zelt .	A big cat is playing in front of the tent .
Jeder freundliche Junge lernt in der Schule .	Every friendly boy is studying in the school .
Diese eleganten Großmütter stehen wieder auf .	These elegant grandmothers are getting up again .
Die Löwen spielen auf der Wiese .	The lions are playing in the meadow .
Ein glücklicher Vater angelt wieder .	A happy father is fishing again .
Eine Frau arbeitet im schönen dunklen Wald .	A woman is working in the beautiful dark forest .
Zwei schmutzige Jungen weinen wieder .	Two dirty boys are crying again .
Das kleine Pferd grast .	The small horse is grazing .
Zwei Jungen schwimmen .	Two boys are swimming .
Sechs junge Polizisten tanzen im Büro .	Six young police officers are dancing in the office .
Eine kleine Maus schläft wieder .	A small mouse is sleeping again .
Mehrere Mütter stehen draußen auf .	Several mothers are getting up outside .
Fünf Schauspielerinnen weinen .	Five actresses are crying .
Ein Kind weint neben dem Turm .	A child is crying next to the tower .
Ein Mädchen lernt am Tisch .	A girl is studying at the table .
Der müde junge Fischer tanzt hinter der Kirche .	The tired young fisherman is dancing behind the church .
Ein Baby weint im Museum .	A baby is crying in the museum .
Der kleine dicke Hund bellt wieder .	The small fat dog is barking again .
Ein Vater arbeitet hinter einer Hütte .	A father is working behind a hut .
Ein fauler Schüler schwimmt in einem tiefen Schwimmbecken .	A lazy pupil is swimming in a deep swimming pool .
Ein freundlicher junger Kellner singt .	A friendly young waiter is singing .
Die Großmutter lächelt neben der Bank .	The grandmother is smiling next to the bench .
Eine glückliche junge Ärztin arbeitet draußen .	A happy young doctor is working outside .
Drei glückliche junge Touristen angeln .	Three happy young tourists are fishing .
Eine glückliche Schauspielerin liegt am kleinen Strand .	A happy actress is lying on the small beach .
Ein Großvater kocht wieder .	A grandfather is cooking again .
Drei Katzen ruhen sich auf dem Feld aus .	Three cats are resting in the field .
Ein trauriger Junge lernt in einer neuen Bibliothek .	A sad boy is studying in a new library .
Vier Großmütter lächeln .	Four grandmothers are smiling .
Ein junger Arbeiter arbeitet vor einem Haus .	A young worker is working in front of a house .
Eine Mutter ruht sich im Garten aus .	A mother is resting in the garden .
Eine Kuh grast hinter dem Stall .	A cow is grazing behind the stable .
Die traurigen Tänzerinnen erwachen .	The sad dancers are waking up .
Der Koch singt .	The chef is singing .
Der junge Kellner singt .	The young waiter is singing .
Die jungen Köche arbeiten wieder .	The young chefs are working again .
Der müde junge Tourist tanzt .	The tired young tourist is dancing .
Diese Männer liegen am schönen ruhigen Strand .	These men are lying on the beautiful quiet beach .
Ein Gärtner lächelt .	A gardener is smiling .
Eine Lehrerin lacht .	A teacher is laughing .
Der junge Maler liegt am Strand .	The young painter is lying on the beach .
Die Clowns warten hinter der Mauer .	The clowns are waiting behind the wall .
Ein Matrose singt im Haus .	A sailor is singing in the house .
Ein trauriger Affe schläft draußen .	A sad monkey is sleeping outside .
Ein Mann angelt .	A man is fishing .
Drei große hungrige Affen spielen zusammen .	Three big hungry monkeys are playing together .
Einige Kinder weinen wieder .	Some children are crying again .
Einige Nachbarinnen arbeiten neben der Hütte .	Some neighbors are working next to the hut .
Alle Clowns warten .	All the clowns are waiting .
Der Hund bellt .	The dog is barking .
Ein Mechaniker tanzt neben dem Brunnen .	A mechanic is dancing next to the fountain .
Die starke Frau weint wieder .	The strong woman is crying again .
Der Schüler lernt in der Bibliothek .	The pupil is studying in the library .
Der junge Matrose angelt .	The young sailor is fishing .
Die kleine Kuh grast .	The small cow is grazing .
Ein fauler Student singt hinter der kleinen Hütte .	A lazy student is singing behind the small hut .
Ein hungriger Hund schwimmt .	A hungry dog is swimming .
Diese Krankenschwester erwacht .	This nurse is waking up .
Ein mutiger Hund bellt .	A brave dog is barking .
Die mutigen Köche lächeln .	The brave chefs are smiling .
Alle starken Männer schreien hinter dem Museum .	All the strong men are shouting behind the museum .
Die schönen müden Frauen lachen im schönen Garten .	The beautiful tired women are laughing in the beautiful garden .
Die Frau lächelt hinter dem Schloss .	The woman is smiling behind the castle .
Drei junge Onkel erwachen .	Three young uncles are waking up .
Einige junge Onkel angeln auf der großen Brücke .	Some young uncles are fishing on the big bridge .
Ein kleines Kind singt draußen .	A small child is singing outside .
Zehn weiße Lämmer grasen auf einem Hügel .	Ten white lambs are grazing on a hill .
Ein junger Onkel tanzt .	A young uncle is dancing .
Zwei Ärztinnen tanzen zusammen .	Two doctors are dancing together .
Eine traurige Tänzerin arbeitet hinter der Schule .	A sad dancer is working behind the school .
Das Mädchen spielt wieder .	The girl is playing again .
Ein müder junger Clown weint .	A tired young clown is crying .
Der Großvater steht wieder auf .	The grandfather is getting up again .
Neun mutige junge Clowns weinen draußen .	Nine brave young clowns are crying outside .
Eine traurige Ärztin singt .	A sad doctor is singing .
Ein Schwein schläft hinter dem Zaun .	A pig is sleeping behind the fence .
Die starken Löwen spielen auf einem Feld .	The strong lions are playing in a field .
Acht junge Nachbarinnen erwachen .	Eight young neighbors are waking up .
Eine dünne alte Ziege grast auf dem großen Feld .	A thin old goat is grazing in the big field .
Ein Hund schwimmt draußen .	A dog is swimming outside .
Der Hund bellt hinter der Tür .	The dog is barking behind the door .
Der faule Schüler sitzt unter der Brücke .	The lazy pupil is sitting under the bridge .
Ein freundlicher Gärtner arbeitet hinter dem dunklen Stall .	A friendly gardener is working behind the dark stable .
Die junge Nachbarin spaziert im großen Dorf .	The young neighbor is walking in the big village .
Ein hungriger Arbeiter schreit neben einem modernen Haus .	A hungry worker is shouting next to a modern house .
Ein stolzer Vater kocht im eleganten Hotel .	A proud father is cooking in the elegant hotel .
Ein junger Vater tanzt .	A young father is dancing .
Einige Nachbarinnen ruhen sich hinter der Schule aus .	Some neighbors are resting behind the school .
Eine freundliche Ärztin wartet auf einer leeren Straße .	A friendly doctor is waiting on an empty street .
Ein Student lernt am Tisch .	A student is studying at the table .
Der Großvater arbeitet .	The grandfather is working .
Die jungen Bauern lachen vor dem alten Bahnhof .	The young farmers are laughing in front of the old station .
Der ältere Matrose schreit an einem Strand .	The elderly sailor is shouting on a beach .
Ein trauriger Mechaniker sitzt hinter der Kirche .	A sad mechanic is sitting behind the church .
Ein mutiger Clown lächelt auf der schönen grünen Wiese .	A brave clown is smiling in the beautiful green meadow .
Der Hund bellt draußen .	The dog is barking outside .
Ein junger Feuerwehrmann steht auf dem grünen Feld .	A young firefighter is standing in the green field .
Der Vater lacht .	The father is laughing .
Jeder Schüler lernt in der Schule .	Every pupil is studying in the school .
Die Mädchen schreien unter der kleinen Brücke .	The girls are shouting under the small bridge .
Ein Hund bellt vor dem kleinen Restaurant .	A dog is barking in front of the small restaurant .
Ein Kind lächelt draußen .	A child is smiling outside .
Sieben durstige Jungen erwachen .	Seven thirsty boys are waking up .
Die Wanderer stehen wieder auf .	The hikers are getting up again .
Vier freundliche junge Bauern lächeln draußen .	Four friendly young farmers are smiling outside .
Ein trauriger Polizist schreit hinter dem Museum .	A sad police officer is shouting behind the museum .
Drei Hunde bellen auf der Straße .	Three dogs are barking on the street .
Fünf schmutzige Mädchen schreien vor dem Zelt .	Five dirty girls are shouting in front of the tent .
Der Schüler lernt draußen .	The pupil is studying outside .
Zehn schöne stolze Mädchen lernen in der Bibliothek .	Ten beautiful proud girls are studying in the library .
Drei Männer kochen im kleinen Restaurant .	Three men are cooking in the small restaurant .
Das schöne Mädchen lernt in einer Bibliothek .	The beautiful girl is studying in a library .
Mehrere Hunde bellen .	Several dogs are barking .
Viele Bauern singen vor dem alten Regal .	Many farmers are singing in front of the old shelf .
Ein Mechaniker kocht im schönen ruhigen Hotel .	A mechanic is cooking in the beautiful quiet hotel .
Eine elegante Frau arbeitet wieder .	An elegant woman is working again .
Das Mädchen schreit neben der Bank .	The girl is shouting next to the bench .
Ein kleines hungriges Baby weint .	A small hungry baby is crying .
Ein glücklicher Mechaniker singt in einem großen neuen Museum .	A happy mechanic is singing in a big new museum .
Der Onkel angelt auf der Brücke .	The uncle is fishing on the bridge .
Das kleine neugierige Kind weint .	The small curious child is crying .
Zwei Jungen lernen im Büro .	Two boys are studying in the office .
Ein glücklicher Bauer arbeitet neben dem Turm .	A happy farmer is working next to the tower .
Ein durstiger Junge weint vor dem Zelt .	A thirsty boy is crying in front of the tent .
Ein Polizist arbeitet neben der nassen Bank .	A police officer is working next to the wet bench .
Fünf Hunde bellen hinter einem berühmten Schloss .	Five dogs are barking behind a famous castle .
Drei freundliche Nachbarinnen schlafen wieder .	Three friendly neighbors are sleeping again .
Einige Kühe ruhen sich hinter dem Stall aus .	Some cows are resting behind the stable .
Zehn müde Mädchen schlafen im Hof .	Ten tired girls are sleeping in the courtyard .
Dieser junge Musiker arbeitet .	This young musician is working .
Der traurige Mechaniker erwacht draußen .	The sad mechanic is waking up outside .
Die schönen Frauen angeln wieder .	The beautiful women are fishing again .
Die freundlichen Arbeiter ruhen sich hinter einem Schloss aus .	The friendly workers are resting behind a castle .
Ein hungriges Mädchen schwimmt in einem Schwimmbecken .	A hungry girl is swimming in a swimming pool .
Ein Bäcker schläft .	A baker is sleeping .
Einige Arbeiter spazieren im Park .	Some workers are walking in the park .
Der Mann weint am schönen Tisch .	The man is crying at the beautiful table .
Viele Polizisten kochen im Restaurant .	Many police officers are cooking in the restaurant .
Mehrere stolze Onkel sitzen unter dem Baum .	Several proud uncles are sitting under the tree .
Dieser junge Koch arbeitet in der modernen Stadt .	This young chef is working in the modern city .
Der müde junge Polizist schreit neben dem Haus .	The tired young police officer is shouting next to the house .
Der hungrige Fuchs spielt auf der großen grünen Wiese .	The hungry fox is playing in the big green meadow .
Mehrere mutige junge Bauern spazieren im Wald .	Several brave young farmers are walking in the forest .
Dieser Student ruht sich auf dem Platz aus .	This student is resting in the square .
Der junge Mechaniker arbeitet wieder .	The young mechanic is working again .
Vier junge weiße Hunde bellen hinter der roten Tür .	Four young white dogs are barking behind the red door .
Eine Lehrerin singt draußen .	A teacher is singing outside .
Ein junger Bäcker lächelt in der Bibliothek .	A young baker is smiling in the library .
Der Gärtner spaziert am Strand .	The gardener is walking on the beach .
Ein Fotograf tanzt .	A photographer is dancing .
Die blonde Lehrerin singt auf der Wiese .	The blond teacher is singing in the meadow .
Die kleinen Kühe ruhen sich wieder aus .	The small cows are resting again .
Ein glücklicher junger Bauer kocht im modernen Hotel .	A happy young farmer is cooking in the modern hotel .
Dieser Junge schreit wieder .	This boy is shouting again .
Ein durstiger Schüler sitzt neben dem alten Zelt .	A thirsty pupil is sitting next to the old tent .
Zehn Arbeiter tanzen neben dem grünen Baum .	Ten workers are dancing next to the green tree .
Der stolze Großvater schwimmt im Fluss .	The proud grandfather is swimming in the river .
Sechs Gärtner lachen hinter dem Geschäft .	Six gardeners are laughing behind the shop .
Ein Mann weint .	A man is crying .
Ein Hund sitzt auf dem Sofa .	A dog is sitting on the sofa .
Das müde Kamel ruht sich auf der Wiese aus .	The tired camel is resting in the meadow .
Eine freundliche Ärztin erwacht .	A friendly doctor is waking up .
Ein junger Vater lächelt im Park .	A young father is smiling in the park .
Ein trauriger junger Onkel sitzt hinter einer Schule .	A sad young uncle is sitting behind a school .
Ein junger Clown erwacht draußen .	A young clown is waking up outside .
Acht schöne Mädchen spielen im Dorf .	Eight beautiful girls are playing in the village .
Die glückliche Krankenschwester lächelt draußen .	The happy nurse is smiling outside .
Ein trauriger Schüler spaziert auf der Wiese .	A sad pupil is walking in the meadow .
Eine stolze Großmutter liegt auf dem Bett .	A proud grandmother is lying on the bed .
Ein Lamm grast hinter dem Zaun .	A lamb is grazing behind the fence .
Viele mutige junge Nachbarinnen kochen zusammen .	Many brave young neighbors are cooking together .
Der junge Koch lacht .	The young chef is laughing .
Eine müde Krankenschwester kocht in einer Küche .	A tired nurse is cooking in a kitchen .
Eine junge Schauspielerin weint vor dem kleinen modernen Geschäft .	A young actress is crying in front of the small modern shop .
Ein Mann tanzt draußen .	A man is dancing outside .
Der müde Gärtner gähnt wieder .	The tired gardener is yawning again .
Der freundliche Arbeiter schreit hinter einem Museum .	The friendly worker is shouting behind a museum .
Ein müdes Baby weint auf einer Bank .	A tired baby is crying on a bench .
Die Krankenschwester steht wieder auf .	The nurse is getting up again .
Ein Feuerwehrmann sitzt in der schönen modernen Stadt .	A firefighter is sitting in the beautiful modern city .
Die freundlichen jungen Väter stehen im Hof .	The friendly young fathers are standing in the courtyard .
Der Mechaniker erwacht .	The mechanic is waking up .
Ein starker Arbeiter schreit draußen .	A strong worker is shouting outside .
Der Matrose ruht sich draußen aus .	The sailor is resting outside .
Die großen Affen spielen .	The big monkeys are playing .
Ein junger Gärtner ruht sich wieder aus .	A young gardener is resting again .
Ein Mechaniker schläft neben dem Zelt .	A mechanic is sleeping next to the tent .
Zwei Kinder schreien vor der Schule .	Two children are shouting in front of the school .
Drei freundliche Großväter singen vor dem Museum .	Three friendly grandfathers are singing in front of the museum .
Zwei Großväter angeln am See .	Two grandfathers are fishing at the lake .
Sieben schwarze Hunde bellen auf einer berühmten Brücke .	Seven black dogs are barking on a famous bridge .
Ein Hund bellt neben der großen Kirche .	A dog is barking next to the big church .
Ein Schüler spielt in einem großen Wald .	A pupil is playing in a big forest .
Ein Esel schläft hinter dem Zaun .	A donkey is sleeping behind the fence .
Mehrere Väter tanzen .	Several fathers are dancing .
Ein junger Student sitzt hinter der Kirche .	A young student is sitting behind the church .
Einige Polizisten kochen wieder .	Some police officers are cooking again .
Dieser junge Arbeiter lächelt im kleinen Geschäft .	This young worker is smiling in the small shop .
Ein Musiker wartet auf der Straße .	A musician is waiting on the street .
Ein Polizist arbeitet im neuen Krankenhaus .	A police officer is working in the new hospital .
Neun junge Väter lachen hinter der Hütte .	Nine young fathers are laughing behind the hut .
Der berühmte junge Maler singt wieder .	The famous young painter is singing again .
Sechs müde junge Bäcker liegen auf dem schmalen alten Bett .	Six tired young bakers are lying on the narrow old bed .
Viele junge Clowns weinen draußen .	Many young clowns are crying outside .
Ein Vater angelt .	A father is fishing .
Einige junge blonde Lehrerinnen lachen neben einer Bank .	Some young blond teachers are laughing next to a bench .
Der schmutzige Hund bellt unter dem alten Baum .	The dirty dog is barking under the old tree .
Ein Koch ruht sich auf der Straße aus .	A chef is resting on the street .
Die Nachbarin spaziert auf der Brücke .	The neighbor is walking on the bridge .
Der freundliche Junge lernt .	The friendly boy is studying .
Eine mutige Schauspielerin weint .	A brave actress is crying .
Viele hungrige junge Studenten singen auf dem kleinen Feld .	Many hungry young students are singing in the small field .
Zwei junge Väter kochen im teuren alten Restaurant .	Two young fathers are cooking in the expensive old restaurant .
Einige neugierige Hunde bellen vor dem Haus .	Some curious dogs are barking in front of the house .
Das müde Kind weint neben dem Zelt .	The tired child is crying next to the tent .
Die schöne ältere Frau angelt am tiefen See .	The beautiful elderly woman is fishing at the deep lake .
Ein trauriger Schüler schreit wieder .	A sad pupil is shouting again .
Eine junge Schauspielerin wartet vor dem Restaurant .	A young actress is waiting in front of the restaurant .
Zwei Touristen arbeiten auf dem Feld .	Two tourists are working in the field .
Ein Mann steht auf .	A man is getting up .
Eine schwarze Kuh grast .	A black cow is grazing .
Der Matrose erwacht wieder .	The sailor is waking up again .
Die freundlichen jungen Touristen singen draußen .	The friendly young tourists are singing outside .
Die mutige Schauspielerin arbeitet vor der neuen Schule .	The brave actress is working in front of the new school .
Ein junger Onkel arbeitet am Strand .	A young uncle is working on the beach .
Zwei Onkel tanzen draußen .	Two uncles are dancing outside .
Ein glücklicher Fischer angelt am See .	A happy fisherman is fishing at the lake .
Eine schöne Frau lächelt unter dem Baum .	A beautiful woman is smiling under the tree .
Die schönen traurigen Mädchen schwimmen im Schwimmbecken .	The beautiful sad girls are swimming in the swimming pool .
Diese starken Mädchen sitzen neben dem weißen Zaun .	These strong girls are sitting next to the white fence .
Eine traurige junge Krankenschwester kocht .	A sad young nurse is cooking .
Alle Jungen lernen im Büro .	All the boys are studying in the office .
Der mutige Hund bellt unter der Brücke .	The brave dog is barking under the bridge .
Der Hund bellt hinter dem Haus .	The dog is barking behind the house .
Einige freundliche Lehrerinnen singen vor einem Restaurant .	Some friendly teachers are singing in front of a restaurant .
Alle jungen Tänzerinnen arbeiten vor dem Brunnen .	All the young dancers are working in front of the fountain .
Mehrere Matrosen lächeln im Wald .	Several sailors are smiling in the forest .
Der dicke Hund bellt hinter der hohen Kirche .	The fat dog is barking behind the tall church .
Acht Wanderer erwachen .	Eight hikers are waking up .
Ein Schüler gähnt wieder .	A pupil is yawning again .
Der glückliche Junge schläft wieder .	The happy boy is sleeping again .
Das schöne Mädchen liegt auf dem Bett .	The beautiful girl is lying on the bed .
Die glücklichen jungen Fischer angeln draußen .	The happy young fishermen are fishing outside .
Einige junge Fotografen tanzen unter dem schönen Baum .	Some young photographers are dancing under the beautiful tree .
Das Baby lacht draußen .	The baby is laughing outside .
Der Matrose lächelt unter einer berühmten Brücke .	The sailor is smiling under a famous bridge .
Eine Mutter steht hinter dem Geschäft .	A mother is standing behind the shop .
Ein fauler alter Hund bellt vor dem Haus .	A lazy old dog is barking in front of the house .
Eine Großmutter schwimmt im Fluss .	A grandmother is swimming in the river .
Zwei Onkel schwimmen in einem langen Fluss .	Two uncles are swimming in a long river .
Mehrere junge Krankenschwestern arbeiten in einem Hotel .	Several young nurses are working in a hotel .
Der neugierige Junge weint neben einer Bank .	The curious boy is crying next to a bench .
Ein Wanderer ruht sich wieder aus .	A hiker is resting again .
Der junge Student lernt in der Schule .	The young student is studying in the school .
Ein freundlicher Kellner schwimmt in einem Fluss .	A friendly waiter is swimming in a river .
Die elegante Großmutter liegt unter dem kleinen Baum .	The elegant grandmother is lying under the small tree .
Der Arbeiter tanzt vor dem Restaurant .	The worker is dancing in front of the restaurant .
Ein junger Mechaniker spaziert in einem Park .	A young mechanic is walking in a park .
Ein kleines Baby schläft wieder .	A small baby is sleeping again .
Einige Fischer spazieren auf der Brücke .	Some fishermen are walking on the bridge .
Das dünne Mädchen lernt wieder .	The thin girl is studying again .
Ein junger Onkel kocht wieder .	A young uncle is cooking again .
Das schwarze Pferd grast .	The black horse is grazing .
Zwei blonde Schüler lernen am Tisch .	Two blond pupils are studying at the table .
Die jungen Nachbarinnen lachen in einem Wald .	The young neighbors are laughing in a forest .
Die Katze spielt neben einer leeren Kirche .	The cat is playing next to an empty church .
Einige ältere Gärtner schlafen hinter dem gelben Haus .	Some elderly gardeners are sleeping behind the yellow house .
Vier Feuerwehrmänner schlafen draußen .	Four firefighters are sleeping outside .
Eine junge Frau schreit unter der Brücke .	A young woman is shouting under the bridge .
Zwei mutige junge Väter angeln auf einer schmalen Brücke .	Two brave young fathers are fishing on a narrow bridge .
Die Krankenschwestern lächeln neben einer Kirche .	The nurses are smiling next to a church .
Drei traurige Musiker ruhen sich in einem Park aus .	Three sad musicians are resting in a park .
Der mutige Polizist arbeitet neben der Bank .	The brave police officer is working next to the bench .
Die Frauen stehen vor einem Museum .	The women are standing in front of a museum .
Ein schönes Mädchen spielt wieder .	A beautiful girl is playing again .
Neun junge Clowns weinen im Dorf .	Nine young clowns are crying in the village .
Ein Clown tanzt vor einem Hotel .	A clown is dancing in front of a hotel .
Fünf müde Clowns erwachen draußen .	Five tired clowns are waking up outside .
Jede hungrige Ziege grast .	Every hungry goat is grazing .
Ein junger Bäcker schwimmt in einem Schwimmbecken .	A young baker is swimming in a swimming pool .
Drei traurige Großmütter arbeiten neben der Kirche .	Three sad grandmothers are working next to the church .
Der faule Bär schläft auf dem Feld .	The lazy bear is sleeping in the field .
Zwei Arbeiter warten draußen .	Two workers are waiting outside .
Ein Mädchen gähnt draußen .	A girl is yawning outside .
Diese traurigen jungen Bauern ruhen sich unter einer Brücke aus .	These sad young farmers are resting under a bridge .
Ein trauriger junger Clown arbeitet auf dem Hügel .	A sad young clown is working on the hill .
Ein junger Musiker wartet neben dem Brunnen .	A young musician is waiting next to the fountain .
Ein schönes Mädchen spielt vor dem Regal .	A beautiful girl is playing in front of the shelf .
Der Wanderer steht neben der Hütte .	The hiker is standing next to the hut .
Dieser alte Hund spielt vor der Kirche .	This old dog is playing in front of the church .
Eine Ziege grast auf der schönen Wiese .	A goat is grazing in the beautiful meadow .
Der müde Tourist spaziert im Park .	The tired tourist is walking in the park .
Eine weiße Ziege schläft hinter dem Zaun .	A white goat is sleeping behind the fence .
Die traurige Nachbarin wartet draußen .	The sad neighbor is waiting outside .
Dieser glückliche Großvater spaziert auf der Brücke .	This happy grandfather is walking on the bridge .
Die nassen Hunde bellen unter dem Stuhl .	The wet dogs are barking under the chair .
Ein Student ruht sich hinter dem Zaun aus .	A student is resting behind the fence .
Drei Studenten lernen .	Three students are studying .
Zwei ältere Matrosen arbeiten zusammen .	Two elderly sailors are working together .
Ein junger Kellner lächelt .	A young waiter is smiling .
Ein stolzer Bauer schreit .	A proud farmer is shouting .
Ein Polizist arbeitet .	A police officer is working .
Die junge Ärztin schwimmt im Schwimmbecken .	The young doctor is swimming in the swimming pool .
Mehrere Hunde spielen .	Several dogs are playing .
Ein junger Arbeiter lacht am Hafen .	A young worker is laughing at the harbor .
Der kleine schwarze Hund bellt am Hafen .	The small black dog is barking at the harbor .
Einige schöne Schauspielerinnen spazieren auf der Wiese .	Some beautiful actresses are walking in the meadow .
Die mutigen Großmütter stehen neben dem Brunnen .	The brave grandmothers are standing next to the fountain .
Der dünne Junge lernt in einer Bibliothek .	The thin boy is studying in a library .
Dieser starke Fischer lächelt hinter dem Museum .	This strong fisherman is smiling behind the museum .
Der Hund bellt vor der Schule .	The dog is barking in front of the school .
Ein Fotograf arbeitet auf dem Hügel .	A photographer is working on the hill .
Einige junge Wanderer lachen zusammen .	Some young hikers are laughing together .
Ein Maler lächelt .	A painter is smiling .
Einige alte Kühe stehen auf .	Some old cows are getting up .
Der Hund bellt hinter der Mauer .	The dog is barking behind the wall .
Diese müden Ärztinnen warten wieder .	These tired doctors are waiting again .
Der junge Vater arbeitet .	The young father is working .
Sechs Tänzerinnen warten .	Six dancers are waiting .
Viele hungrige junge Studenten lernen in der Schule .	Many hungry young students are studying in the school .
Der mutige Kellner schläft neben dem Haus .	The brave waiter is sleeping next to the house .
Ein Hund spielt .	A dog is playing .
Der Schüler tanzt vor dem kaputten Spiegel .	The pupil is dancing in front of the broken mirror .
Ein junger Bauer lacht neben dem Zelt .	A young farmer is laughing next to the tent .
Ein blonder Junge ruht sich draußen aus .	A blond boy is resting outside .
Ein großes starkes Pferd grast auf der Wiese .	A big strong horse is grazing in the meadow .
Ein Pferd grast .	A horse is grazing .
Der Fotograf lächelt .	The photographer is smiling .
Die junge Nachbarin tanzt neben dem Brunnen .	The young neighbor is dancing next to the fountain .
Der Fuchs spielt auf dem Feld .	The fox is playing in the field .
Diese Jungen lernen .	These boys are studying .
Einige junge Maler schlafen draußen .	Some young painters are sleeping outside .
Die junge Lehrerin liegt unter dem Baum .	The young teacher is lying under the tree .
Eine Kuh schläft .	A cow is sleeping .
Sechs Jungen weinen vor dem Krankenhaus .	Six boys are crying in front of the hospital .
Die traurige junge Ärztin spaziert an einem schönen Strand .	The sad young doctor is walking on a beautiful beach .
Eine junge Nachbarin ruht sich vor einem Hotel aus .	A young neighbor is resting in front of a hotel .
Einige Großväter schlafen neben der Bank .	Some grandfathers are sleeping next to the bench .
Ein Hund bellt vor einem großen Brunnen .	A dog is barking in front of a big fountain .
Der Onkel lacht .	The uncle is laughing .
Die Ziege grast auf dem grünen Feld .	The goat is grazing in the green field .
Das kleine Pferd grast hinter dem Stall .	The small horse is grazing behind the stable .
Die Ärztin lächelt .	The doctor is smiling .
Neun Nachbarinnen lächeln in der Bibliothek .	Nine neighbors are smiling in the library .
Einige Esel grasen auf einem Hügel .	Some donkeys are grazing on a hill .
Ein Kind lächelt neben dem Baum .	A child is smiling next to the tree .
Ein Student lernt in der modernen Bibliothek .	A student is studying in the modern library .
Die Löwen spielen .	The lions are playing .
Diese jungen Matrosen sitzen neben der Kirche .	These young sailors are sitting next to the church .
Die traurigen Schauspielerinnen stehen im Hof .	The sad actresses are standing in the courtyard .
Ein junger Koch tanzt hinter der Kirche .	A young chef is dancing behind the church .
Die Mütter stehen hinter dem Geschäft .	The mothers are standing behind the shop .
Einige Feuerwehrmänner lächeln auf der Wiese .	Some firefighters are smiling in the meadow .
Einige glückliche Großmütter schwimmen .	Some happy grandmothers are swimming .
Eine junge Nachbarin steht vor der Kirche .	A young neighbor is standing in front of the church .
Dieser kleine schmutzige Hund bellt wieder .	This small dirty dog is barking again .
Zwei blonde Mädchen kochen .	Two blond girls are cooking .
Ein junger Maler kocht in einem Restaurant .	A young painter is cooking in a restaurant .
Die Ärztin singt in der Schule .	The doctor is singing in the school .
Ein Junge lernt in einem großen Büro .	A boy is studying in a big office .
Die jungen Ärztinnen arbeiten auf der Straße .	The young doctors are working on the street .
Ein Bär spielt in einem Wald .	A bear is playing in a forest .
Der neugierige Junge sitzt am Hafen .	The curious boy is sitting at the harbor .
Ein alter Hund bellt vor dem kleinen neuen Geschäft .	An old dog is barking in front of the small new shop .
Der starke junge Bauer schreit hinter dem Museum .	The strong young farmer is shouting behind the museum .
Ein junger Onkel angelt auf der Brücke .	A young uncle is fishing on the bridge .
Der traurige Maler tanzt in der Schule .	The sad painter is dancing in the school .
Ein Wanderer singt neben einem Haus .	A hiker is singing next to a house .
Eine hungrige Katze schläft .	A hungry cat is sleeping .
Der müde Hund spielt neben einem Zaun .	The tired dog is playing next to a fence .
Der müde Schüler lernt .	The tired pupil is studying .
Zwei Köche warten auf der nassen Straße .	Two chefs are waiting on the wet street .
Eine junge Lehrerin arbeitet hinter der Schule .	A young teacher is working behind the school .
Ein stolzer junger Vater kocht im Hotel .	A proud young father is cooking in the hotel .
Ein Mädchen weint .	A girl is crying .
Die Frau weint im Büro .	The woman is crying in the office .
Ein dünner Junge tanzt neben dem berühmten Brunnen .	A thin boy is dancing next to the famous fountain .
Das blonde Kind tanzt im alten Restaurant .	The blond child is dancing in the old restaurant .
Die Lehrerin arbeitet neben der großen Kirche .	The teacher is working next to the big church .
Der junge Maler steht vor dem Museum .	The young painter is standing in front of the museum .
Der junge Matrose schwimmt im Fluss .	The young sailor is swimming in the river .
Die Großväter angeln am See .	The grandfathers are fishing at the lake .
Die kleinen Kinder spielen wieder .	The small children are playing again .
Ein Schüler singt vor dem alten Zelt .	A pupil is singing in front of the old tent .
Der Tourist spaziert im Park .	The tourist is walking in the park .
Viele Polizisten singen vor dem Bahnhof .	Many police officers are singing in front of the station .
Der Tourist angelt am See .	The tourist is fishing at the lake .
Ein junger Feuerwehrmann schwimmt im Schwimmbecken .	A young firefighter is swimming in the swimming pool .
Die Onkel gähnen .	The uncles are yawning .
Die Mechaniker singen .	The mechanics are singing .
Zwei Väter angeln .	Two fathers are fishing .
Zwei Pferde grasen .	Two horses are grazing .
Ein Kamel ruht sich auf der Wiese aus .	A camel is resting in the meadow .
Der Wanderer tanzt auf dem kleinen Feld .	The hiker is dancing in the small field .
Einige Mütter arbeiten .	Some mothers are working .
Ein grauer Elefant schläft draußen .	A gray elephant is sleeping outside .
Der mutige junge Fischer angelt am Fluss .	The brave young fisherman is fishing at the river .
Mehrere Tänzerinnen lächeln .	Several dancers are smiling .
Ein junger Bauer schwimmt im Schwimmbecken .	A young farmer is swimming in the swimming pool .
Ein junger Gärtner arbeitet .	A young gardener is working .
Fünf Kellner arbeiten zusammen .	Five waiters are working together .
Vier glückliche Onkel warten unter dem Baum .	Four happy uncles are waiting under the tree .
Diese jungen Matrosen schreien .	These young sailors are shouting .
Ein junger Wanderer kocht .	A young hiker is cooking .
Einige Lehrerinnen liegen auf der Bank .	Some teachers are lying on the bench .
Ein glücklicher Koch schwimmt im Fluss .	A happy chef is swimming in the river .
Ein müder junger Koch singt wieder .	A tired young chef is singing again .
Dieser Großvater angelt am See .	This grandfather is fishing at the lake .
Das Mädchen lernt in der Bibliothek .	The girl is studying in the library .
Ein Kellner gähnt .	A waiter is yawning .
Die schwarze Ziege grast auf der Wiese .	The black goat is grazing in the meadow .
Ein Musiker tanzt .	A musician is dancing .
Die freundlichen Großväter kochen im Restaurant .	The friendly grandfathers are cooking in the restaurant .
Ein Hund bellt vor dem Museum .	A dog is barking in front of the museum .
Jeder Großvater schläft hinter der Schule .	Every grandfather is sleeping behind the school .
Der junge Musiker arbeitet auf dem Platz .	The young musician is working in the square .
Der Feuerwehrmann liegt auf der Wiese .	The firefighter is lying in the meadow .
Die Studenten lernen im kleinen Büro .	The students are studying in the small office .
Drei müde Fischer spazieren auf der Brücke .	Three tired fishermen are walking on the bridge .
Fünf müde Musiker schlafen auf der schönen Bank .	Five tired musicians are sleeping on the beautiful bench .
Ein Bär schläft draußen .	A bear is sleeping outside .
Fünf Köche kochen in einem vollen Restaurant .	Five chefs are cooking in a full restaurant .
Die müden Männer arbeiten im modernen Krankenhaus .	The tired men are working in the modern hospital .
Ein Junge lernt am Tisch .	A boy is studying at the table .
Alle glücklichen Kinder schwimmen draußen .	All the happy children are swimming outside .
Ein Mädchen lächelt wieder .	A girl is smiling again .
Eine schöne Tänzerin steht in der Bibliothek .	A beautiful dancer is standing in the library .
Eine Kuh grast .	A cow is grazing .
Alle Feuerwehrmänner stehen draußen auf .	All the firefighters are getting up outside .
Mehrere traurige Maler liegen auf einem alten Bett .	Several sad painters are lying on an old bed .
Vier traurige Studenten lernen zusammen .	Four sad students are studying together .
Ein Vater schwimmt im See .	A father is swimming in the lake .
Ein Schüler gähnt draußen .	A pupil is yawning outside .
Ein junger Student lernt am Tisch .	A young student is studying at the table .
Der müde Fischer ruht sich wieder aus .	The tired fisherman is resting again .
Der Hund liegt am ruhigen Strand .	The dog is lying on the quiet beach .
Der Tourist ruht sich wieder aus .	The tourist is resting again .
Ein mutiger Fischer ruht sich aus .	A brave fisherman is resting .
Zwei Großväter ruhen sich wieder aus .	Two grandfathers are resting again .
Ein Musiker tanzt unter dem Baum .	A musician is dancing under the tree .
Zwei junge Wanderer ruhen sich aus .	Two young hikers are resting .
Die junge Nachbarin lächelt wieder .	The young neighbor is smiling again .
Ein Hund spielt vor dem Hotel .	A dog is playing in front of the hotel .
Die glücklichen Kinder ruhen sich draußen aus .	The happy children are resting outside .
Ein Student lernt im Büro .	A student is studying in the office .
Die älteren Fischer kochen in einer Küche .	The elderly fishermen are cooking in a kitchen .
Das Mädchen lernt in einem Büro .	The girl is studying in an office .
Ein Musiker arbeitet draußen .	A musician is working outside .
Ein Fotograf lächelt vor einem Hotel .	A photographer is smiling in front of a hotel .
Eine Lehrerin tanzt in der Küche .	A teacher is dancing in the kitchen .
Die jungen Touristen lächeln vor dem Krankenhaus .	The young tourists are smiling in front of the hospital .
Ein Gärtner liegt an einem Strand .	A gardener is lying on a beach .
Das kleine Kind ruht sich wieder aus .	The small child is resting again .
Ein Clown schläft neben einem Brunnen .	A clown is sleeping next to a fountain .
Ein kleines Kind wartet vor einem Schloss .	A small child is waiting in front of a castle .
Ein kleines Kind weint .	A small child is crying .
Der traurige junge Kellner steht vor einer Kirche .	The sad young waiter is standing in front of a church .
Einige Väter lächeln vor einem Restaurant .	Some fathers are smiling in front of a restaurant .
Das kleine müde Baby lächelt .	The small tired baby is smiling .
Der alte Hund bellt wieder .	The old dog is barking again .
Eine Lehrerin tanzt vor einem Bahnhof .	A teacher is dancing in front of a station .
Die Krankenschwestern schwimmen .	The nurses are swimming .
Der junge Fotograf arbeitet im Restaurant .	The young photographer is working in the restaurant .
Die Krankenschwester tanzt im großen Restaurant .	The nurse is dancing in the big restaurant .
Diese Touristen warten neben der Kirche .	These tourists are waiting next to the church .
Eine stolze Großmutter gähnt .	A proud grandmother is yawning .
Der traurige alte Hund bellt neben dem Zaun .	The sad old dog is barking next to the fence .
Sieben Frauen stehen vor dem Brunnen .	Seven women are standing in front of the fountain .
Ein älterer Maler singt vor einem Museum .	An elderly painter is singing in front of a museum .
Sieben Großväter lächeln vor einem Brunnen .	Seven grandfathers are smiling in front of a fountain .
Ein kleines müdes Baby weint auf dem Stuhl .	A small tired baby is crying on the chair .
Ein schönes durstiges Pferd grast .	A beautiful thirsty horse is grazing .
Eine große schwarze Ziege grast .	A big black goat is grazing .
Ein Feuerwehrmann schwimmt im See .	A firefighter is swimming in the lake .
Der neugierige Schüler lernt in der Bibliothek .	The curious pupil is studying in the library .
Die freundlichen Matrosen ruhen sich wieder aus .	The friendly sailors are resting again .
Ein hungriger Student lernt in der Schule .	A hungry student is studying in the school .
Ein Student schläft neben der Statue .	A student is sleeping next to the statue .
Zwei Touristen schwimmen im See .	Two tourists are swimming in the lake .
Die Bäcker lächeln .	The bakers are smiling .
Ein Feuerwehrmann ruht sich hinter dem Haus aus .	A firefighter is resting behind the house .
Der hungrige Junge lernt wieder .	The hungry boy is studying again .
Ein Baby weint .	A baby is crying .
Alle freundlichen Lehrerinnen arbeiten unter einer kleinen Brücke .	All the friendly teachers are working under a small bridge .
Mehrere glückliche junge Touristen sitzen vor dem Museum .	Several happy young tourists are sitting in front of the museum .
Der Tourist kocht im Hotel .	The tourist is cooking in the hotel .
Die mutigen Gärtner tanzen .	The brave gardeners are dancing .
Ein trauriger Schüler spielt wieder .	A sad pupil is playing again .
Dieser Junge lernt in der Schule .	This boy is studying in the school .
Der stolze Bäcker steht in der Bibliothek .	The proud baker is standing in the library .
Diese müden Großväter warten draußen .	These tired grandfathers are waiting outside .
Ein Fuchs schläft wieder .	A fox is sleeping again .
Ein Wanderer lacht hinter einem Geschäft .	A hiker is laughing behind a shop .
Der Polizist erwacht .	The police officer is waking up .
Diese Mutter spaziert auf dem berühmten Platz .	This mother is walking in the famous square .
Ein junger Polizist schreit vor dem Haus .	A young police officer is shouting in front of the house .
Einige schöne Mädchen lernen am großen Tisch .	Some beautiful girls are studying at the big table .
Die freundlichen Großmütter spazieren im Wald .	The friendly grandmothers are walking in the forest .
Der Großvater steht auf .	The grandfather is getting up .
Der junge Clown arbeitet wieder .	The young clown is working again .
Zwei traurige Fischer sitzen auf der Straße .	Two sad fishermen are sitting on the street .
Eine schöne ältere Frau weint .	A beautiful elderly woman is crying .
Zwei Frauen tanzen hinter der großen Mauer .	Two women are dancing behind the big wall .
Der mutige junge Student lernt im Büro .	The brave young student is studying in the office .
Der junge Vater lächelt vor einer Schule .	The young father is smiling in front of a school .
Ein trauriger junger Mechaniker schwimmt im See .	A sad young mechanic is swimming in the lake .
Ein mutiger Student wartet auf dem berühmten Platz .	A brave student is waiting in the famous square .
Alle freundlichen Feuerwehrmänner lächeln wieder .	All the friendly firefighters are smiling again .
Eine Tänzerin gähnt .	A dancer is yawning .
Zwei Hunde bellen draußen .	Two dogs are barking outside .
Dieser Wanderer arbeitet im kleinen Park .	This hiker is working in the small park .
Die glücklichen Jungen warten hinter einem Museum .	The happy boys are waiting behind a museum .
Die Tänzerinnen lächeln hinter der schönen berühmten Kirche .	The dancers are smiling behind the beautiful famous church .
Zwei junge Köche ruhen sich neben der Hütte aus .	Two young chefs are resting next to the hut .
Viele junge Onkel arbeiten neben dem kleinen Zelt .	Many young uncles are working next to the small tent .
Die ältere Ärztin lächelt wieder .	The elderly doctor is smiling again .
Eine junge Mutter ruht sich aus .	A young mother is resting .
Ein neugieriger Tourist angelt am kleinen tiefen See .	A curious tourist is fishing at the small deep lake .
Sechs junge Frauen ruhen sich draußen aus .	Six young women are resting outside .
Sechs kleine Hunde bellen unter einem Stuhl .	Six small dogs are barking under a chair .
Neun Kinder tanzen vor dem Schloss .	Nine children are dancing in front of the castle .
Die Kellner spazieren in einem Dorf .	The waiters are walking in a village .
Mehrere Köche lächeln unter dem Baum .	Several chefs are smiling under the tree .
Ein Arbeiter schwimmt im schönen See .	A worker is swimming in the beautiful lake .
Eine junge Tänzerin schwimmt im Fluss .	A young dancer is swimming in the river .
Die große hungrige Ziege grast hinter einem Zaun .	The big hungry goat is grazing behind a fence .
Ein Wanderer sitzt im Wald .	A hiker is sitting in the forest .
Ein durstiger Arbeiter schwimmt .	A thirsty worker is swimming .
Die ältere Lehrerin singt .	The elderly teacher is singing .
Die Matrosen schreien .	The sailors are shouting .
Die Bauern gähnen draußen .	The farmers are yawning outside .
Die schönen Mädchen stehen hinter einer Mauer .	The beautiful girls are standing behind a wall .
Der Fischer lacht vor einer Kirche .	The fisherman is laughing in front of a church .
Die müde Mutter wartet unter einem grünen Baum .	The tired mother is waiting under a green tree .
Der junge Clown schwimmt im See .	The young clown is swimming in the lake .
Der Mechaniker lacht .	The mechanic is laughing .
Der hungrige Junge tanzt neben einem Baum .	The hungry boy is dancing next to a tree .
Eine alte braune Kuh grast auf dem Feld .	An old brown cow is grazing in the field .
Der Junge spielt draußen .	The boy is playing outside .
Der elegante Mann angelt auf der kleinen Brücke .	The elegant man is fishing on the small bridge .
Ein Junge schreit in der Stadt .	A boy is shouting in the city .
Der Matrose schwimmt draußen .	The sailor is swimming outside .
Ein starker Matrose sitzt auf einem kleinen Feld .	A strong sailor is sitting in a small field .
Ein müder Vater angelt am See .	A tired father is fishing at the lake .
Einige durstige Wanderer lachen wieder .	Some thirsty hikers are laughing again .
Zwei Schauspielerinnen tanzen hinter einem Museum .	Two actresses are dancing behind a museum .
Einige Pferde grasen auf einer grünen Wiese .	Some horses are grazing in a green meadow .
Der Musiker ruht sich auf dem Bett aus .	The musician is resting on the bed .
Diese Polizisten tanzen vor dem Zelt .	These police officers are dancing in front of the tent .
Die freundliche Lehrerin schwimmt im See .	The friendly teacher is swimming in the lake .
Diese traurige Lehrerin liegt auf der Wiese .	This sad teacher is lying in the meadow .
Die Kellner lachen im Krankenhaus .	The waiters are laughing in the hospital .
Eine mutige Nachbarin gähnt draußen .	A brave neighbor is yawning outside .
Ein Großvater spaziert auf der Brücke .	A grandfather is walking on the bridge .
Ein Matrose lächelt auf dem Platz .	A sailor is smiling in the square .
Der neugierige Hund sitzt vor einem berühmten Brunnen .	The curious dog is sitting in front of a famous fountain .
Alle Köche warten neben einer Kirche .	All the chefs are waiting next to a church .
Eine junge Nachbarin schwimmt im See .	A young neighbor is swimming in the lake .
Einige Arbeiter arbeiten vor dem Museum .	Some workers are working in front of the museum .
Sechs freundliche Bauern lachen vor der großen Kirche .	Six friendly farmers are laughing in front of the big church .
Zwei Hunde bellen in einem großen ruhigen Dorf .	Two dogs are barking in a big quiet village .
Einige müde Schauspielerinnen stehen unter der Brücke .	Some tired actresses are standing under the bridge .
Jeder Mechaniker spaziert auf dem Platz .	Every mechanic is walking in the square .
Der Maler liegt auf dem Bett .	The painter is lying on the bed .
Der faule Löwe spielt .	The lazy lion is playing .
Die müden Großväter schwimmen im Schwimmbecken .	The tired grandfathers are swimming in the swimming pool .
Die Großmütter stehen auf einer kleinen Brücke .	The grandmothers are standing on a small bridge .
Jedes glückliche Kind schreit vor einem Brunnen .	Every happy child is shouting in front of a fountain .
Eine müde junge Schauspielerin wartet neben dem Turm .	A tired young actress is waiting next to the tower .
Drei Ziegen grasen auf der Wiese .	Three goats are grazing in the meadow .
Ein freundlicher junger Tourist kocht .	A friendly young tourist is cooking .
Ein Vater gähnt .	A father is yawning .
Der Clown steht neben der Hütte .	The clown is standing next to the hut .
Einige Vögel singen .	Some birds are singing .
Der kleine hungrige Hund bellt neben dem Zelt .	The small hungry dog is barking next to the tent .
Der Matrose liegt auf dem schmalen alten Bett .	The sailor is lying on the narrow old bed .
Ein Vater schläft auf dem Teppich .	A father is sleeping on the carpet .
Die berühmte Tänzerin spaziert im Wald .	The famous dancer is walking in the forest .
Die glückliche Großmutter kocht in einem Hotel .	The happy grandmother is cooking in a hotel .
Dieser mutige Großvater angelt auf einer schmalen Brücke .	This brave grandfather is fishing on a narrow bridge .
Einige Clowns weinen vor einem Krankenhaus .	Some clowns are crying in front of a hospital .
Ein junger Fotograf wartet wieder .	A young photographer is waiting again .
Der Polizist schreit wieder .	The police officer is shouting again .
Sieben Lehrerinnen stehen vor einem Brunnen .	Seven teachers are standing in front of a fountain .
Die Touristen spazieren auf dem großen berühmten Platz .	The tourists are walking in the big famous square .
Ein kleines hungriges Baby weint im berühmten Hotel .	A small hungry baby is crying in the famous hotel .
Ein Feuerwehrmann kocht in der Küche .	A firefighter is cooking in the kitchen .
Ein junger Onkel wartet neben dem grünen Baum .	A young uncle is waiting next to the green tree .
Ein kleines mutiges Kind spielt neben dem Brunnen .	A small brave child is playing next to the fountain .
Die Jungen lernen zusammen .	The boys are studying together .
Die Studenten schlafen in der Stadt .	The students are sleeping in the city .
Ein kleines Kind sitzt in der Stadt .	A small child is sitting in the city .
Ein Koch liegt auf einem kleinen grauen Sofa .	A chef is lying on a small gray sofa .
Die mutige Nachbarin singt neben dem Turm .	The brave neighbor is singing next to the tower .
Viele Jungen angeln am See .	Many boys are fishing at the lake .
Alle Schüler schreien hinter dem Schloss .	All the pupils are shouting behind the castle .
Eine Lehrerin sitzt hinter einem großen neuen Museum .	A teacher is sitting behind a big new museum .
Ein freundlicher junger Onkel steht vor dem kleinen Spiegel .	A friendly young uncle is standing in front of the small mirror .
Drei traurige Gärtner singen unter einer breiten Brücke .	Three sad gardeners are singing under a wide bridge .
Alle traurigen Tänzerinnen schwimmen im Fluss .	All the sad dancers are swimming in the river .
Ein schönes Mädchen lernt am Tisch .	A beautiful girl is studying at the table .
Ein schönes blondes Mädchen spielt draußen .	A beautiful blond girl is playing outside .
Ein junger Fotograf lacht im Haus .	A young photographer is laughing in the house .
Jeder mutige Polizist kocht wieder .	Every brave police officer is cooking again .
Ein Schüler liegt auf der schönen Wiese .	A pupil is lying in the beautiful meadow .
Ein junger Fischer kocht in der Küche .	A young fisherman is cooking in the kitchen .
Die große schwarze Kuh grast .	The big black cow is grazing .
Die Tänzerinnen singen vor dem großen Schloss .	The dancers are singing in front of the big castle .
Der blonde Schüler singt in der Stadt .	The blond pupil is singing in the city .
Viele Wanderer lächeln vor dem Schloss .	Many hikers are smiling in front of the castle .
Der durstige Junge liegt auf dem Teppich .	The thirsty boy is lying on the carpet .
Der braune Bär schläft wieder .	The brown bear is sleeping again .
Die Schauspielerinnen kochen im eleganten großen Restaurant .	The actresses are cooking in the elegant big restaurant .
Ein freundlicher junger Maler tanzt im kleinen Haus .	A friendly young painter is dancing in the small house .
Ein glücklicher junger Tourist arbeitet vor der berühmten Kirche .	A happy young tourist is working in front of the famous church .
Die Studenten lernen im Büro .	The students are studying in the office .
Ein Tourist schwimmt im See .	A tourist is swimming in the lake .
Die müden Bäcker liegen unter dem grünen Baum .	The tired bakers are lying under the green tree .
Diese Großväter singen .	These grandfathers are singing .
Ein schönes glückliches Mädchen spielt neben dem Zelt .	A beautiful happy girl is playing next to the tent .
Die müden Hunde bellen neben dem Zaun .	The tired dogs are barking next to the fence .
Die Ziegen grasen hinter dem Zaun .	The goats are grazing behind the fence .
Ein Pferd grast auf einem Feld .	A horse is grazing in a field .
Dieser faule Bär spielt unter einem Baum .	This lazy bear is playing under a tree .
Fünf blonde Touristen lachen in einem Museum .	Five blond tourists are laughing in a museum .
Die freundlichen Mechaniker sitzen auf dem Platz .	The friendly mechanics are sitting in the square .
Fünf schöne Schauspielerinnen schlafen hinter der Kirche .	Five beautiful actresses are sleeping behind the church .
Zehn elegante Frauen kochen im Hotel .	Ten elegant women are cooking in the hotel .
Der junge Student lernt in der Bibliothek .	The young student is studying in the library .
Das blonde Mädchen lernt in einer Bibliothek .	The blond girl is studying in a library .
Der Bäcker liegt auf dem weichen Bett .	The baker is lying on the soft bed .
Der Student lernt wieder .	The student is studying again .
Der Feuerwehrmann steht auf der Wiese .	The firefighter is standing in the meadow .
Eine junge Ärztin wartet .	A young doctor is waiting .
Eine Tänzerin spaziert in einem Park .	A dancer is walking in a park .
Ein junger Student lernt im modernen Büro .	A young student is studying in the modern office .
Drei Esel grasen wieder .	Three donkeys are grazing again .
Die stolze Großmutter schläft wieder .	The proud grandmother is sleeping again .
Ein großer Esel grast draußen .	A big donkey is grazing outside .
Ein junger Kellner lacht im Park .	A young waiter is laughing in the park .
Die junge Nachbarin tanzt vor dem Regal .	The young neighbor is dancing in front of the shelf .
Die Clowns kochen in einer Küche .	The clowns are cooking in a kitchen .
Einige kleine schmutzige Kinder tanzen .	Some small dirty children are dancing .
Einige alte Elefanten schlafen unter dem Baum .	Some old elephants are sleeping under the tree .
Zehn junge Frauen weinen im Hof .	Ten young women are crying in the courtyard .
Der müde Musiker steht hinter einem Museum .	The tired musician is standing behind a museum .
Ein trauriger Schüler singt .	A sad pupil is singing .
Die Musiker sitzen auf dem Platz .	The musicians are sitting in the square .
Der freundliche Feuerwehrmann ruht sich auf dem großen Platz aus .	The friendly firefighter is resting in the big square .
Ein kleiner Hund liegt auf dem Sofa .	A small dog is lying on the sofa .
Zwei Clowns spazieren auf einem Platz .	Two clowns are walking in a square .
Die durstigen Arbeiter lächeln wieder .	The thirsty workers are smiling again .
Eine elegante Schauspielerin kocht in der Küche .	An elegant actress is cooking in the kitchen .
Fünf müde Polizisten spazieren in einem Park .	Five tired police officers are walking in a park .
Ein Großvater steht auf .	A grandfather is getting up .
Das schmutzige Kind schläft auf dem alten Stuhl .	The dirty child is sleeping on the old chair .
Eine Nachbarin lacht neben einer Hütte .	A neighbor is laughing next to a hut .
Vier dünne Männer stehen neben einem Haus .	Four thin men are standing next to a house .
Die Männer schreien neben einer kleinen Kirche .	The men are shouting next to a small church .
Zwei Frauen arbeiten vor der Schule .	Two women are working in front of the school .
Der Mechaniker steht neben der Statue .	The mechanic is standing next to the statue .
Der traurige Junge spielt draußen .	The sad boy is playing outside .
Ein junger Bäcker steht im Dorf .	A young baker is standing in the village .
Ein junger Polizist spaziert auf dem Platz .	A young police officer is walking in the square .
Die Polizisten schreien wieder .	The police officers are shouting again .
Ein junger Tourist sitzt auf dem Platz .	A young tourist is sitting in the square .
Einige schöne ältere Frauen weinen .	Some beautiful elderly women are crying .
Einige Kinder lächeln im Restaurant .	Some children are smiling in the restaurant .
Ein Bauer wartet neben dem Zelt .	A farmer is waiting next to the tent .
Zehn Großväter singen .	Ten grandfathers are singing .
Ein Hund schwimmt in einem Schwimmbecken .	A dog is swimming in a swimming pool .
Die Ziegen grasen auf der großen Wiese .	The goats are grazing in the big meadow .
Ein Wanderer schwimmt wieder .	A hiker is swimming again .
Ein glücklicher Großvater kocht .	A happy grandfather is cooking .
Die junge Nachbarin lächelt neben einem großen Baum .	The young neighbor is smiling next to a big tree .
Einige Fotografen schwimmen .	Some photographers are swimming .
Diese Kinder spielen neben einer Statue .	These children are playing next to a statue .
Dieser Matrose liegt unter einem schönen hohen Baum .	This sailor is lying under a beautiful tall tree .
Der Gärtner lächelt hinter dem Haus .	The gardener is smiling behind the house .
Ein Fischer angelt auf einer Brücke .	A fisherman is fishing on a bridge .
Einige Männer stehen neben einem alten Turm .	Some men are standing next to an old tower .
Die durstigen Schüler lernen in einem Büro .	The thirsty pupils are studying in an office .
Einige Schüler spielen vor einem großen Spiegel .	Some pupils are playing in front of a big mirror .
Der glückliche Student wartet .	The happy student is waiting .
Der müde Vater angelt .	The tired father is fishing .
Ein kleiner Elefant schläft .	A small elephant is sleeping .
Ein müder Hund bellt .	A tired dog is barking .
Ein Mann weint im Dorf .	A man is crying in the village .
Zwei junge Nachbarinnen arbeiten draußen .	Two young neighbors are working outside .
Ein junger Fotograf steht im neuen Museum .	A young photographer is standing in the new museum .
Der müde junge Clown weint draußen .	The tired young clown is crying outside .
Der traurige Polizist tanzt neben dem Zelt .	The sad police officer is dancing next to the tent .
Ein Mann steht wieder auf .	A man is getting up again .
Der junge Arbeiter schwimmt draußen .	The young worker is swimming outside .
Das große hungrige Lamm grast hinter dem alten Stall .	The big hungry lamb is grazing behind the old stable .
Das schöne glückliche Mädchen liegt auf der schönen grünen Wiese .	The beautiful happy girl is lying in the beautiful green meadow .
Drei junge Mütter ruhen sich am Hafen aus .	Three young mothers are resting at the harbor .
Die freundlichen jungen Ärztinnen arbeiten zusammen .	The friendly young doctors are working together .
Einige Bäcker liegen auf einem Sofa .	Some bakers are lying on a sofa .
Zwei junge Fischer liegen auf dem Teppich .	Two young fishermen are lying on the carpet .
Ein kleines schmutziges Kind lächelt .	A small dirty child is smiling .
Die jungen Schauspielerinnen weinen neben dem Zelt .	The young actresses are crying next to the tent .
Alle Matrosen schwimmen in einem kalten See .	All the sailors are swimming in a cold lake .
Der müde junge Bauer singt .	The tired young farmer is singing .
Dieser Großvater spaziert im Park .	This grandfather is walking in the park .
Ein starker Mann weint neben einer Statue .	A strong man is crying next to a statue .
Ein freundlicher Arbeiter lächelt vor dem leeren Regal .	A friendly worker is smiling in front of the empty shelf .
Die junge Lehrerin arbeitet hinter einem Geschäft .	The young teacher is working behind a shop .
Der Fischer angelt auf der schönen berühmten Brücke .	The fisherman is fishing on the beautiful famous bridge .
Die blonden Mädchen schreien unter dem hohen Baum .	The blond girls are shouting under the tall tree .
Die freundliche Schauspielerin weint hinter dem Schloss .	The friendly actress is crying behind the castle .
Ein Onkel schwimmt .	An uncle is swimming .
Diese Frau angelt am großen tiefen Fluss .	This woman is fishing at the big deep river .
Einige müde Schüler spielen auf der leeren Straße .	Some tired pupils are playing on the empty street .
Mehrere freundliche Frauen lächeln wieder .	Several friendly women are smiling again .
Dieser Onkel sitzt neben dem Baum .	This uncle is sitting next to the tree .
Ein durstiger Tourist arbeitet neben dem blauen Zelt .	A thirsty tourist is working next to the blue tent .
Diese kleinen Kaninchen schlafen .	These small rabbits are sleeping .
Dieser mutige Fischer angelt am großen kalten See .	This brave fisherman is fishing at the big cold lake .
Jeder neugierige Schüler schreit unter einem grünen Baum .	Every curious pupil is shouting under a green tree .
Die durstigen Ziegen grasen hinter dem Zaun .	The thirsty goats are grazing behind the fence .
Ein junger Student lacht in einem ruhigen Dorf .	A young student is laughing in a quiet village .
Eine junge Tänzerin kocht im Restaurant .	A young dancer is cooking in the restaurant .
Einige junge Maler arbeiten vor dem Zelt .	Some young painters are working in front of the tent .
Der faule Student lernt am Tisch .	The lazy student is studying at the table .
Der Schüler lernt im Büro .	The pupil is studying in the office .
Ein schönes blondes Mädchen schreit vor der hohen Kirche .	A beautiful blond girl is shouting in front of the tall church .
Der Schüler schwimmt im Schwimmbecken .	The pupil is swimming in the swimming pool .
Das blonde Kind schläft neben dem Haus .	The blond child is sleeping next to the house .
Ein kleines Kind spielt hinter dem Haus .	A small child is playing behind the house .
Die eleganten Großmütter tanzen vor der Schule .	The elegant grandmothers are dancing in front of the school .
Die Männer schreien vor dem neuen Geschäft .	The men are shouting in front of the new shop .
Ein müder Schüler lernt in einer Bibliothek .	A tired pupil is studying in a library .
Der stolze Koch kocht im Restaurant .	The proud chef is cooking in the restaurant .
Diese starken Frauen schreien vor dem großen bunten Zelt .	These strong women are shouting in front of the big colorful tent .
Das kleine Baby lacht in einem Büro .	The small baby is laughing in an office .
Der Hund schläft hinter dem neuen Haus .	The dog is sleeping behind the new house .
Sechs müde Großmütter schwimmen draußen .	Six tired grandmothers are swimming outside .
Das Kind schreit vor dem Zelt .	The child is shouting in front of the tent .
Diese traurigen Schüler schreien hinter der Hütte .	These sad pupils are shouting behind the hut .
Der Großvater angelt am Fluss .	The grandfather is fishing at the river .
Einige Studenten singen hinter dem Haus .	Some students are singing behind the house .
Eine Nachbarin singt im Haus .	A neighbor is singing in the house .
Mehrere Jungen schreien wieder .	Several boys are shouting again .
Ein trauriger Mechaniker schwimmt im Fluss .	A sad mechanic is swimming in the river .
Die glückliche Lehrerin gähnt .	The happy teacher is yawning .
Neun Lehrerinnen sitzen vor einem Brunnen .	Nine teachers are sitting in front of a fountain .
Ein junger Onkel angelt .	A young uncle is fishing .
Die Schauspielerin gähnt .	The actress is yawning .
Die freundlichen jungen Nachbarinnen sitzen neben der Statue .	The friendly young neighbors are sitting next to the statue .
Der Bäcker schläft auf der Bank .	The baker is sleeping on the bench .
Der junge Tourist tanzt draußen .	The young tourist is dancing outside .
Der müde Onkel lächelt in einer Stadt .	The tired uncle is smiling in a city .
Der Fischer kocht im alten Restaurant .	The fisherman is cooking in the old restaurant .
Die traurige Tänzerin arbeitet .	The sad dancer is working .
Ein junger Matrose gähnt draußen .	A young sailor is yawning outside .
Ein Junge ruht sich vor dem Hotel aus .	A boy is resting in front of the hotel .
Eine schöne starke Frau schwimmt wieder .	A beautiful strong woman is swimming again .
Ein Mädchen schläft wieder .	A girl is sleeping again .
Ein hungriges Mädchen schläft neben der hohen Statue .	A hungry girl is sleeping next to the tall statue .
Diese hungrigen Babys weinen .	These hungry babies are crying .
Diese mutigen Schüler tanzen vor der kleinen Schule .	These brave pupils are dancing in front of the small school .
Eine Krankenschwester wartet hinter der Mauer .	A nurse is waiting behind the wall .
Der junge Wanderer lächelt neben der Statue .	The young hiker is smiling next to the statue .
Eine Schauspielerin weint auf einem Sofa .	An actress is crying on a sofa .
Mehrere kleine dicke Hunde bellen .	Several small fat dogs are barking .
Ein nasser Hund sitzt auf dem Teppich .	A wet dog is sitting on the carpet .
Die Musiker stehen unter der Brücke .	The musicians are standing under the bridge .
Die neugierige Ziege grast auf der Wiese .	The curious goat is grazing in the meadow .
Eine Ziege ruht sich auf dem Feld aus .	A goat is resting in the field .
Die mutige Mutter ruht sich aus .	The brave mother is resting .
Ein mutiger junger Arbeiter tanzt draußen .	A brave young worker is dancing outside .
Die starke junge Frau schreit .	The strong young woman is shouting .
Zwei Väter singen neben dem Zaun .	Two fathers are singing next to the fence .
Eine müde junge Krankenschwester lacht neben dem Haus .	A tired young nurse is laughing next to the house .
Jede schöne Frau weint vor dem Spiegel .	Every beautiful woman is crying in front of the mirror .
Eine Ziege grast hinter dem Stall .	A goat is grazing behind the stable .
Die Krankenschwester sitzt auf dem schönen berühmten Platz .	The nurse is sitting in the beautiful famous square .
Der Student gähnt .	The student is yawning .
Eine Frau angelt am Fluss .	A woman is fishing at the river .
Der Gärtner steht auf .	The gardener is getting up .
Diese älteren Ärztinnen singen zusammen .	These elderly doctors are singing together .
Ein junger Vater angelt auf einer neuen Brücke .	A young father is fishing on a new bridge .
Zwei hungrige Schüler lernen im Büro .	Two hungry pupils are studying in the office .
Die Lehrerin lacht hinter der weißen Mauer .	The teacher is laughing behind the white wall .
Ein fauler Bär spielt im Wald .	A lazy bear is playing in the forest .
Ein Arbeiter kocht draußen .	A worker is cooking outside .
Diese hungrigen Studenten arbeiten unter dem Baum .	These hungry students are working under the tree .
Ein mutiger Onkel angelt auf der schmalen Brücke .	A brave uncle is fishing on the narrow bridge .
Ein schmutziges Schwein ruht sich auf der Wiese aus .	A dirty pig is resting in the meadow .
Die Hunde gähnen .	The dogs are yawning .
Ein Vater spaziert im dunklen Wald .	A father is walking in the dark forest .
Alle jungen Wanderer gähnen .	All the young hikers are yawning .
Die Großväter singen in einer Schule .	The grandfathers are singing in a school .
Die freundlichen Großväter tanzen im Wald .	The friendly grandfathers are dancing in the forest .
Ein müder junger Matrose angelt draußen .	A tired young sailor is fishing outside .
Der stolze Großvater spaziert im schönen Dorf .	The proud grandfather is walking in the beautiful village .
Der Kellner lächelt vor einem Spiegel .	The waiter is smiling in front of a mirror .
Vier kleine Pferde stehen wieder auf .	Four small horses are getting up again .
Einige Hunde bellen hinter dem Museum .	Some dogs are barking behind the museum .
Ein trauriger junger Gärtner kocht in einem alten Restaurant .	A sad young gardener is cooking in an old restaurant .
Der Schüler lächelt .	The pupil is smiling .
Ein kleines Kind weint vor dem Haus .	A small child is crying in front of the house .
Ein berühmter junger Maler arbeitet vor dem Haus .	A famous young painter is working in front of the house .
Zwei müde junge Polizisten schreien neben der hohen alten Statue .	Two tired young police officers are shouting next to the tall old statue .
Ein starker junger Fischer angelt .	A strong young fisherman is fishing .
Alle freundlichen jungen Maler liegen auf der Bank .	All the friendly young painters are lying on the bench .
Der Junge spielt .	The boy is playing .
Eine elegante Großmutter wartet .	An elegant grandmother is waiting .
Einige Großväter angeln am großen See .	Some grandfathers are fishing at the big lake .
Viele Fischer kochen draußen .	Many fishermen are cooking outside .
Ein mutiger Clown weint am Strand .	A brave clown is crying on the beach .
Die jungen Tänzerinnen arbeiten vor einem Restaurant .	The young dancers are working in front of a restaurant .
Der neugierige Schüler tanzt neben einer Bank .	The curious pupil is dancing next to a bench .
Eine Nachbarin lacht .	A neighbor is laughing .
Mehrere Touristen sitzen hinter dem großen Baum .	Several tourists are sitting behind the big tree .
Die jungen Clowns tanzen zusammen .	The young clowns are dancing together .
Drei Lämmer grasen .	Three lambs are grazing .
Sieben Mädchen lernen in der Schule .	Seven girls are studying in the school .
Zwei Matrosen ruhen sich aus .	Two sailors are resting .
Ein Fuchs spielt unter dem Baum .	A fox is playing under the tree .
Zwei traurige Schüler lernen wieder .	Two sad pupils are studying again .
Ein starker junger Feuerwehrmann singt hinter dem Museum .	A strong young firefighter is singing behind the museum .
Der Wanderer singt unter dem Baum .	The hiker is singing under the tree .
Ein junger Bauer schreit im Park .	A young farmer is shouting in the park .
Die Frau weint vor dem Geschäft .	The woman is crying in front of the shop .
Diese Jungen lachen auf einem großen leeren Platz .	These boys are laughing in a big empty square .
Jede Tänzerin wartet vor dem Brunnen .	Every dancer is waiting in front of the fountain .
Diese Großväter arbeiten draußen .	These grandfathers are working outside .
Das kleine neugierige Kind weint auf dem Stuhl .	The small curious child is crying on the chair .
Diese Nachbarinnen lächeln im Hof .	These neighbors are smiling in the courtyard .
Zwei Studenten schwimmen im See .	Two students are swimming in the lake .
Die Lehrerinnen tanzen .	The teachers are dancing .
Ein Tourist lächelt auf dem schönen berühmten Platz .	A tourist is smiling in the beautiful famous square .
Sechs Köche liegen unter dem schönen Baum .	Six chefs are lying under the beautiful tree .
Ein junger Bauer kocht in einem Restaurant .	A young farmer is cooking in a restaurant .
Fünf dünne Mädchen schreien vor dem Museum .	Five thin girls are shouting in front of the museum .
Ein trauriger Schüler liegt auf dem Sofa .	A sad pupil is lying on the sofa .
Die jungen Maler tanzen .	The young painters are dancing .
Der freundliche Koch schwimmt draußen .	The friendly chef is swimming outside .
Einige traurige Maler tanzen neben einer Kirche .	Some sad painters are dancing next to a church .
Der junge Polizist kocht .	The young police officer is cooking .
Eine mutige junge Mutter schwimmt im Fluss .	A brave young mother is swimming in the river .
Viele Ärztinnen ruhen sich am Tisch aus .	Many doctors are resting at the table .
Ein kleines Baby lacht im Krankenhaus .	A small baby is laughing in the hospital .
Ein Clown schwimmt im breiten Fluss .	A clown is swimming in the wide river .
Ein Student lernt in der alten Schule .	A student is studying in the old school .
Die kleine Maus schläft auf der grünen Wiese .	The small mouse is sleeping in the green meadow .
Der Arbeiter tanzt vor einem Schloss .	The worker is dancing in front of a castle .
Ein blonder Schüler steht vor der Schule .	A blond pupil is standing in front of the school .
Der freundliche Bäcker lacht .	The friendly baker is laughing .
Ein starker Arbeiter tanzt .	A strong worker is dancing .
Ein trauriger Fischer kocht in einer neuen Küche .	A sad fisherman is cooking in a new kitchen .
Der junge blonde Student steht auf .	The young blond student is getting up .
Der freundliche Arbeiter schreit draußen .	The friendly worker is shouting outside .
Die Mäuse schlafen auf der Wiese .	The mice are sleeping in the meadow .
Der müde Kellner arbeitet vor einem Schloss .	The tired waiter is working in front of a castle .
Die faule junge Katze spielt .	The lazy young cat is playing .
Der Koch gähnt draußen .	The chef is yawning outside .
Drei glückliche Schauspielerinnen liegen unter dem Baum .	Three happy actresses are lying under the tree .
Drei traurige Großmütter schwimmen im tiefen Schwimmbecken .	Three sad grandmothers are swimming in the deep swimming pool .
Die junge Ärztin spaziert im Park .	The young doctor is walking in the park .
Ein trauriger junger Clown weint wieder .	A sad young clown is crying again .
Die Katze spielt .	The cat is playing .
Die starke Frau schreit am Strand .	The strong woman is shouting on the beach .
Zwei Clowns schwimmen im kalten See .	Two clowns are swimming in the cold lake .
Sechs neugierige Jungen lernen zusammen .	Six curious boys are studying together .
Der junge Koch ruht sich am Hafen aus .	The young chef is resting at the harbor .
Sieben alte Löwen spielen im Wald .	Seven old lions are playing in the forest .
Neun Lehrerinnen schwimmen im See .	Nine teachers are swimming in the lake .
Fünf mutige Großmütter liegen auf der Bank .	Five brave grandmothers are lying on the bench .
Die starken Löwen spielen im Wald .	The strong lions are playing in the forest .
Ein Fischer lacht draußen .	A fisherman is laughing outside .
Einige traurige Großväter singen hinter der kleinen Schule .	Some sad grandfathers are singing behind the small school .
Der glückliche Musiker spaziert auf dem Platz .	The happy musician is walking in the square .
Ein glücklicher junger Fotograf wartet vor einem Bahnhof .	A happy young photographer is waiting in front of a station .
Ein schönes dünnes Mädchen spielt wieder .	A beautiful thin girl is playing again .
Ein glücklicher Mann angelt auf der Brücke .	A happy man is fishing on the bridge .
Drei berühmte junge Köche spazieren auf der Brücke .	Three famous young chefs are walking on the bridge .
Ein kleines Baby lacht im kleinen Geschäft .	A small baby is laughing in the small shop .
Ein Mann schreit neben einer Bank .	A man is shouting next to a bench .
Der Arbeiter lächelt vor dem Schloss .	The worker is smiling in front of the castle .
Der traurige Tourist tanzt .	The sad tourist is dancing .
Der alte Hund bellt unter einem schönen Stuhl .	The old dog is barking under a beautiful chair .
Einige junge Lehrerinnen liegen auf einem Sofa .	Some young teachers are lying on a sofa .
Die Matrosen singen im Büro .	The sailors are singing in the office .
Der Affe spielt auf dem großen Feld .	The monkey is playing in the big field .
Der hungrige Wanderer erwacht .	The hungry hiker is waking up .
Drei Schüler lernen in der neuen Bibliothek .	Three pupils are studying in the new library .
Ein müder Schüler spielt draußen .	A tired pupil is playing outside .
Vier schöne Mädchen lernen .	Four beautiful girls are studying .
Drei Mädchen lernen in der neuen Schule .	Three girls are studying in the new school .
Ein kleiner Hund bellt unter dem Baum .	A small dog is barking under the tree .
Die Lehrerin spaziert auf einer grünen Wiese .	The teacher is walking in a green meadow .
Diese jungen Wanderer lächeln im Hof .	These young hikers are smiling in the courtyard .
Ein junger Hund bellt .	A young dog is barking .
Mehrere Clowns weinen vor einer Kirche .	Several clowns are crying in front of a church .
Einige junge Studenten schlafen auf dem Sofa .	Some young students are sleeping on the sofa .
Ein alter Hund bellt unter dem Sofa .	An old dog is barking under the sofa .
Jeder starke junge Matrose steht neben der Bank .	Every strong young sailor is standing next to the bench .
Ein Vater steht auf .	A father is getting up .
Drei Frauen lächeln in einem Geschäft .	Three women are smiling in a shop .
Ein Koch arbeitet hinter dem Baum .	A chef is working behind the tree .
Der Maler ruht sich an einem Strand aus .	The painter is resting on a beach .
Der freundliche junge Wanderer lächelt hinter dem Baum .	The friendly young hiker is smiling behind the tree .
Das Mädchen weint draußen .	The girl is crying outside .
Der junge Bäcker lacht .	The young baker is laughing .
Eine Großmutter kocht im Hotel .	A grandmother is cooking in the hotel .
Das Mädchen schreit im Dorf .	The girl is shouting in the village .
Sechs stolze junge Bauern schreien .	Six proud young farmers are shouting .
Vier Löwen ruhen sich aus .	Four lions are resting .
Eine stolze Großmutter schläft hinter dem Zaun .	A proud grandmother is sleeping behind the fence .
Ein müder Hund bellt wieder .	A tired dog is barking again .
Der Junge angelt am See .	The boy is fishing at the lake .
Einige Mädchen schreien hinter einer Kirche .	Some girls are shouting behind a church .
Die berühmten Schauspielerinnen schwimmen .	The famous actresses are swimming .
Der starke Arbeiter arbeitet hinter dem Zaun .	The strong worker is working behind the fence .
Diese junge Krankenschwester arbeitet .	This young nurse is working .
Ein Tourist kocht in der Küche .	A tourist is cooking in the kitchen .
Der Polizist gähnt draußen .	The police officer is yawning outside .
Viele faule Schüler spazieren auf dem Platz .	Many lazy pupils are walking in the square .
Ein junger Fotograf wartet vor der Kirche .	A young photographer is waiting in front of the church .
Die kleinen Hunde liegen auf dem Teppich .	The small dogs are lying on the carpet .
Ein großes braunes Pferd grast auf dem Feld .	A big brown horse is grazing in the field .
Die schöne mutige Frau schreit wieder .	The beautiful brave woman is shouting again .
Einige Jungen weinen .	Some boys are crying .
Ein Arbeiter spaziert an einem Strand .	A worker is walking on a beach .
Jeder Onkel singt .	Every uncle is singing .
Ein trauriger junger Gärtner schwimmt wieder .	A sad young gardener is swimming again .
Fünf Schauspielerinnen schlafen hinter einem Zaun .	Five actresses are sleeping behind a fence .
Der Tourist arbeitet neben dem Turm .	The tourist is working next to the tower .
Ein trauriger Kellner wartet hinter der Kirche .	A sad waiter is waiting behind the church .
Dieser Hund bellt unter dem alten grünen Sofa .	This dog is barking under the old green sofa .
Die Krankenschwester wartet draußen .	The nurse is waiting outside .
Der glückliche Koch singt vor dem schönen Museum .	The happy chef is singing in front of the beautiful museum .
Die Mädchen sitzen im Park .	The girls are sitting in the park .
Die neugierigen Affen schlafen auf einer grünen Wiese .	The curious monkeys are sleeping in a green meadow .
Der mutige Wanderer spaziert im großen Wald .	The brave hiker is walking in the big forest .
Eine schöne Schauspielerin sitzt vor dem Museum .	A beautiful actress is sitting in front of the museum .
Alle Frauen weinen im kleinen ruhigen Zimmer .	All the women are crying in the small quiet room .
Ein Großvater lacht .	A grandfather is laughing .
Der Feuerwehrmann singt im ruhigen Dorf .	The firefighter is singing in the quiet village .
Der freundliche Arbeiter wartet im Wald .	The friendly worker is waiting in the forest .
Der mutige Maler kocht im Hotel .	The brave painter is cooking in the hotel .
Einige Feuerwehrmänner singen an einem Strand .	Some firefighters are singing on a beach .
Fünf traurige junge Gärtner stehen unter der Brücke .	Five sad young gardeners are standing under the bridge .
Der starke junge Matrose angelt wieder .	The strong young sailor is fishing again .
Der Feuerwehrmann lächelt .	The firefighter is smiling .
Der Arbeiter kocht in einem großen Hotel .	The worker is cooking in a big hotel .
Vier kleine Kinder schwimmen im See .	Four small children are swimming in the lake .
Ein Kind sitzt neben einer Bank .	A child is sitting next to a bench .
Der mutige junge Polizist wartet wieder .	The brave young police officer is waiting again .
Acht Großväter angeln auf der langen alten Brücke .	Eight grandfathers are fishing on the long old bridge .
Ein junger Bäcker lächelt unter der Brücke .	A young baker is smiling under the bridge .
Die älteren Gärtner kochen im Hotel .	The elderly gardeners are cooking in the hotel .
Diese Lehrerinnen schwimmen draußen .	These teachers are swimming outside .
Ein Hund erwacht .	A dog is waking up .
Das glückliche Baby erwacht draußen .	The happy baby is waking up outside .
Die eleganten Männer schreien am ruhigen Strand .	The elegant men are shouting on the quiet beach .
Eine ältere Frau schreit am schönen ruhigen Strand .	An elderly woman is shouting on the beautiful quiet beach .
Ein Kind gähnt .	A child is yawning .
Jede schöne Frau schreit wieder .	Every beautiful woman is shouting again .
Das starke Pferd grast .	The strong horse is grazing .
Der große Affe spielt auf dem Feld .	The big monkey is playing in the field .
Drei müde Maler kochen zusammen .	Three tired painters are cooking together .
Ein starker Feuerwehrmann singt vor dem Geschäft .	A strong firefighter is singing in front of the shop .
Diese jungen Fischer warten .	These young fishermen are waiting .
Der Vater schwimmt im See .	The father is swimming in the lake .
Ein schönes glückliches Mädchen steht in der Schule .	A beautiful happy girl is standing in the school .
Drei schöne Frauen stehen draußen auf .	Three beautiful women are getting up outside .
Acht Babys lachen vor dem Spiegel .	Eight babies are laughing in front of the mirror .
Ein Fotograf tanzt auf der großen Wiese .	A photographer is dancing in the big meadow .
Eine müde Großmutter steht auf .	A tired grandmother is getting up .
Ein Wanderer spaziert in einem Garten .	A hiker is walking in a garden .
Eine berühmte Tänzerin sitzt unter dem hohen Baum .	A famous dancer is sitting under the tall tree .
Die glückliche Lehrerin lacht hinter einer kleinen Mauer .	The happy teacher is laughing behind a small wall .
Fünf Gärtner schwimmen .	Five gardeners are swimming .
Mehrere junge Wanderer ruhen sich aus .	Several young hikers are resting .
Jeder Bauer schreit auf einer Wiese .	Every farmer is shouting in a meadow .
Die Frau wartet hinter der langen Mauer .	The woman is waiting behind the long wall .
Die Männer weinen neben dem Baum .	The men are crying next to the tree .
Diese traurige Großmutter steht draußen auf .	This sad grandmother is getting up outside .
Fünf Arbeiter tanzen hinter dem kleinen modernen Geschäft .	Five workers are dancing behind the small modern shop .
Eine schöne glückliche Tänzerin arbeitet neben der Bank .	A beautiful happy dancer is working next to the bench .
Eine Mutter singt in einem Garten .	A mother is singing in a garden .
Jeder Bäcker liegt auf dem Bett .	Every baker is lying on the bed .
Ein hungriger junger Wanderer wartet .	A hungry young hiker is waiting .
Der Wanderer spaziert auf der großen grünen Wiese .	The hiker is walking in the big green meadow .
Eine Ziege grast wieder .	A goat is grazing again .
Mehrere durstige Schweine ruhen sich hinter dem weißen Zaun aus .	Several thirsty pigs are resting behind the white fence .
Ein Matrose tanzt hinter dem Geschäft .	A sailor is dancing behind the shop .
Der kleine neugierige Hund spielt unter dem grünen Baum .	The small curious dog is playing under the green tree .
Der stolze Bauer arbeitet vor einer Schule .	The proud farmer is working in front of a school .
Dieser stolze Großvater lacht hinter der alten Hütte .	This proud grandfather is laughing behind the old hut .
Der Junge schreit wieder .	The boy is shouting again .
Ein Matrose singt .	A sailor is singing .
Ein müder Mann arbeitet .	A tired man is working .
Vier Matrosen stehen auf dem Platz .	Four sailors are standing in the square .
Ein älterer Kellner erwacht .	An elderly waiter is waking up .
Eine junge Mutter arbeitet unter dem grünen Baum .	A young mother is working under the green tree .
Der berühmte junge Koch singt neben dem Zelt .	The famous young chef is singing next to the tent .
Das hungrige Pferd grast draußen .	The hungry horse is grazing outside .
Der kleine starke Elefant schläft im Wald .	The small strong elephant is sleeping in the forest .
Eine Katze spielt hinter der modernen Schule .	A cat is playing behind the modern school .
Ein blonder Student arbeitet .	A blond student is working .
Zehn Großväter singen vor dem Hotel .	Ten grandfathers are singing in front of the hotel .
Neun müde Studenten lernen am schweren Tisch .	Nine tired students are studying at the heavy table .
Ein Gärtner kocht wieder .	A gardener is cooking again .
Mehrere alte Hunde bellen vor dem teuren Hotel .	Several old dogs are barking in front of the expensive hotel .
Sieben junge Bäcker tanzen wieder .	Seven young bakers are dancing again .
Diese Hunde bellen neben der Bank .	These dogs are barking next to the bench .
Der glückliche Bäcker steht im kleinen Büro .	The happy baker is standing in the small office .
Jeder Bauer kocht wieder .	Every farmer is cooking again .
Alle stolzen Köche lachen zusammen .	All the proud chefs are laughing together .
Fünf starke Pferde grasen auf dem Feld .	Five strong horses are grazing in the field .
Der Großvater erwacht .	The grandfather is waking up .
Ein kleines mutiges Kind weint auf dem Sofa .	A small brave child is crying on the sofa .
Ein müder Hund bellt neben dem Zelt .	A tired dog is barking next to the tent .
Ein junger Polizist tanzt auf der Wiese .	A young police officer is dancing in the meadow .
Viele müde Onkel warten auf dem Feld .	Many tired uncles are waiting in the field .
Ein Schüler lernt in einer Schule .	A pupil is studying in a school .
Ein Koch lächelt .	A chef is smiling .
Die freundliche Frau tanzt in einem Haus .	The friendly woman is dancing in a house .
Der Fischer spaziert auf dem Platz .	The fisherman is walking in the square .
Ein schönes Mädchen weint wieder .	A beautiful girl is crying again .
Mehrere traurige Hunde spielen vor einer kleinen neuen Schule .	Several sad dogs are playing in front of a small new school .
Drei glückliche Großväter arbeiten zusammen .	Three happy grandfathers are working together .
Ein großer Löwe spielt im Wald .	A big lion is playing in the forest .
Einige mutige junge Touristen schwimmen im Schwimmbecken .	Some brave young tourists are swimming in the swimming pool .
Viele stolze Jungen schwimmen im Fluss .	Many proud boys are swimming in the river .
Vier neugierige Hunde bellen hinter einem Sofa .	Four curious dogs are barking behind a sofa .
Einige glückliche junge Clowns ruhen sich draußen aus .	Some happy young clowns are resting outside .
Neun junge Clowns singen wieder .	Nine young clowns are singing again .
Der Maler schläft hinter dem Haus .	The painter is sleeping behind the house .
Der Feuerwehrmann singt .	The firefighter is singing .
Ein schönes Mädchen lächelt .	A beautiful girl is smiling .
Die jungen Musiker lächeln vor dem alten roten Zelt .	The young musicians are smiling in front of the old red tent .
Ein Tourist arbeitet in einem Hotel .	A tourist is working in a hotel .
Ein junger Gärtner singt .	A young gardener is singing .
Eine große Kuh schläft .	A big cow is sleeping .
Vier Matrosen warten neben dem Baum .	Four sailors are waiting next to the tree .
Einige Mechaniker lächeln .	Some mechanics are smiling .
Der Tourist angelt auf der Brücke .	The tourist is fishing on the bridge .
Der glückliche Schüler schwimmt im See .	The happy pupil is swimming in the lake .
Der Student singt .	The student is singing .
Ein junger Matrose schreit neben der kleinen Statue .	A young sailor is shouting next to the small statue .
Der junge Gärtner lächelt .	The young gardener is smiling .
Die Hunde bellen unter dem Sofa .	The dogs are barking under the sofa .
Die Frauen weinen auf dem schönen Bett .	The women are crying on the beautiful bed .
Die mutigen Onkel lächeln hinter der schönen Kirche .	The brave uncles are smiling behind the beautiful church .
Mehrere junge Arbeiter lachen zusammen .	Several young workers are laughing together .
Ein trauriger Großvater spaziert auf der Brücke .	A sad grandfather is walking on the bridge .
Ein Schüler schreit vor dem kleinen roten Zelt .	A pupil is shouting in front of the small red tent .
Die junge Tänzerin wartet auf dem Platz .	The young dancer is waiting in the square .
Die starken Mädchen weinen draußen .	The strong girls are crying outside .
Ein durstiger Schüler schreit neben der Hütte .	A thirsty pupil is shouting next to the hut .
Der berühmte junge Fotograf lächelt vor der Kirche .	The famous young photographer is smiling in front of the church .
Dieses Kind liegt auf der Bank .	This child is lying on the bench .
Ein Tourist angelt am kleinen kalten See .	A tourist is fishing at the small cold lake .
Ein junger Matrose angelt draußen .	A young sailor is fishing outside .
Drei Mütter liegen auf der Wiese .	Three mothers are lying in the meadow .
Einige Jungen schreien draußen .	Some boys are shouting outside .
Einige faule Schüler lernen am großen schweren Tisch .	Some lazy pupils are studying at the big heavy table .
Der Matrose steht in der modernen Stadt .	The sailor is standing in the modern city .
Die müden Fotografen tanzen hinter dem Geschäft .	The tired photographers are dancing behind the shop .
Der Polizist tanzt hinter dem Baum .	The police officer is dancing behind the tree .
Der traurige Großvater schwimmt .	The sad grandfather is swimming .
Ein Matrose schreit vor dem Zelt .	A sailor is shouting in front of the tent .
Der Feuerwehrmann erwacht .	The firefighter is waking up .
Drei Mechaniker tanzen auf dem Platz .	Three mechanics are dancing in the square .
Der schmutzige junge Hund spielt im Hof .	The dirty young dog is playing in the courtyard .
Zwei Elefanten schlafen unter einem hohen Baum .	Two elephants are sleeping under a tall tree .
Alle jungen Krankenschwestern schwimmen im See .	All the young nurses are swimming in the lake .
Ein glücklicher junger Polizist wartet unter dem großen Baum .	A happy young police officer is waiting under the big tree .
Ein Junge liegt auf dem Sofa .	A boy is lying on the sofa .
Der blonde Schüler lernt in der Schule .	The blond pupil is studying in the school .
Ein eleganter junger Kellner schwimmt im Fluss .	An elegant young waiter is swimming in the river .
Die jungen Studenten kochen in der Küche .	The young students are cooking in the kitchen .
Eine Frau steht hinter einem Baum .	A woman is standing behind a tree .
Diese neugierigen Schüler schreien hinter einer Kirche .	These curious pupils are shouting behind a church .
Der berühmte Fotograf arbeitet hinter dem Baum .	The famous photographer is working behind the tree .
Ein junger Student lernt .	A young student is studying .
Acht Schauspielerinnen warten vor der Schule .	Eight actresses are waiting in front of the school .
Drei Studenten kochen im berühmten Hotel .	Three students are cooking in the famous hotel .
Zwei glückliche Gärtner kochen zusammen .	Two happy gardeners are cooking together .
Mehrere kleine weiße Hunde bellen in einem schönen Garten .	Several small white dogs are barking in a beautiful garden .
Ein eleganter Kellner lächelt vor dem Krankenhaus .	An elegant waiter is smiling in front of the hospital .
Ein Junge lernt in der Bibliothek .	A boy is studying in the library .
Eine Kuh grast hinter dem Zaun .	A cow is grazing behind the fence .
Einige Hunde bellen unter dem großen Tisch .	Some dogs are barking under the big table .
Die müden Schüler lernen im Büro .	The tired pupils are studying in the office .
Die Mutter liegt unter dem Baum .	The mother is lying under the tree .
Eine schöne Tänzerin schwimmt im großen kalten Schwimmbecken .	A beautiful dancer is swimming in the big cold swimming pool .
Jeder Matrose steht draußen auf .	Every sailor is getting up outside .
Die eleganten jungen Kellner schlafen hinter der Mauer .	The elegant young waiters are sleeping behind the wall .
Vier junge Fischer warten neben einem Brunnen .	Four young fishermen are waiting next to a fountain .
Der müde junge Bäcker arbeitet .	The tired young baker is working .
Eine müde Großmutter liegt auf dem Sofa .	A tired grandmother is lying on the sofa .
Der Clown schwimmt im Fluss .	The clown is swimming in the river .
Eine glückliche junge Lehrerin schwimmt im Schwimmbecken .	A happy young teacher is swimming in the swimming pool .
Ein trauriger junger Musiker schläft auf der grünen Wiese .	A sad young musician is sleeping in the green meadow .
Die Männer schreien im Hof .	The men are shouting in the courtyard .
Zwei junge Polizisten kochen draußen .	Two young police officers are cooking outside .
Die jungen Köche erwachen draußen .	The young chefs are waking up outside .
Ein junger Fischer liegt auf der großen Wiese .	A young fisherman is lying in the big meadow .
Ein schönes Mädchen lernt in der Bibliothek .	A beautiful girl is studying in the library .
Die kleinen müden Babys erwachen wieder .	The small tired babies are waking up again .
Das Kind singt im Restaurant .	The child is singing in the restaurant .
Ein Arbeiter sitzt neben einem Turm .	A worker is sitting next to a tower .
Ein trauriger junger Feuerwehrmann ruht sich in der großen Stadt aus .	A sad young firefighter is resting in the big city .
Fünf glückliche junge Nachbarinnen spazieren im Dorf .	Five happy young neighbors are walking in the village .
Die Musiker kochen im Hotel .	The musicians are cooking in the hotel .
Einige stolze junge Onkel kochen in der Küche .	Some proud young uncles are cooking in the kitchen .
Eine Großmutter steht hinter einer Mauer .	A grandmother is standing behind a wall .
Eine junge Nachbarin lacht draußen .	A young neighbor is laughing outside .
Neun traurige Gärtner tanzen zusammen .	Nine sad gardeners are dancing together .
Eine schöne freundliche Frau lächelt .	A beautiful friendly woman is smiling .
Diese jungen Bäcker tanzen vor dem großen Zelt .	These young bakers are dancing in front of the big tent .
Drei traurige Jungen weinen .	Three sad boys are crying .
Die jungen Arbeiter lächeln hinter einer Kirche .	The young workers are smiling behind a church .
Ein kleines Baby lacht in einem Hotel .	A small baby is laughing in a hotel .
Ein müder Schüler lernt im neuen Büro .	A tired pupil is studying in the new office .
Ein Polizist steht auf .	A police officer is getting up .
Ein mutiger Onkel arbeitet vor dem Brunnen .	A brave uncle is working in front of the fountain .
Die traurige junge Schauspielerin steht hinter der Hütte .	The sad young actress is standing behind the hut .
Fünf Musiker sitzen hinter der langen Mauer .	Five musicians are sitting behind the long wall .
Ein Onkel wartet vor dem Schloss .	An uncle is waiting in front of the castle .
Ein Mann schreit hinter dem Haus .	A man is shouting behind the house .
Dieser Schüler spielt hinter einem weißen Haus .	This pupil is playing behind a white house .
Vier nasse Katzen spielen vor dem berühmten alten Brunnen .	Four wet cats are playing in front of the famous old fountain .
Die starken Löwen spielen zusammen .	The strong lions are playing together .
Sieben freundliche Großväter tanzen vor dem Hotel .	Seven friendly grandfathers are dancing in front of the hotel .
Fünf Köche ruhen sich wieder aus .	Five chefs are resting again .
Der junge Vater lächelt wieder .	The young father is smiling again .
Die junge Lehrerin sitzt unter einem Baum .	The young teacher is sitting under a tree .
Zwei müde Kinder lächeln auf einer Wiese .	Two tired children are smiling in a meadow .
Der alte Löwe spielt unter dem Baum .	The old lion is playing under the tree .
Der Clown arbeitet neben einer weißen Kirche .	The clown is working next to a white church .
Der glückliche Musiker ruht sich vor einem neuen Restaurant aus .	The happy musician is resting in front of a new restaurant .
Ein Vater liegt auf dem kleinen grünen Teppich .	A father is lying on the small green carpet .
Ein stolzer Junge lernt .	A proud boy is studying .
Dieser berühmte junge Maler wartet wieder .	This famous young painter is waiting again .
Dieser Hund bellt .	This dog is barking .
Eine junge Mutter schwimmt draußen .	A young mother is swimming outside .
Ein Tourist tanzt draußen .	A tourist is dancing outside .
Einige Fotografen lächeln .	Some photographers are smiling .
Einige Polizisten singen auf dem Feld .	Some police officers are singing in the field .
Sechs junge Köche kochen draußen .	Six young chefs are cooking outside .
Einige Ziegen grasen hinter dem Zaun .	Some goats are grazing behind the fence .
Ein Mann lächelt unter dem Baum .	A man is smiling under the tree .
Einige Studenten lachen neben einem Baum .	Some students are laughing next to a tree .
Ein trauriger Arbeiter ruht sich vor dem Brunnen aus .	A sad worker is resting in front of the fountain .
Der junge Arbeiter lacht vor dem Bahnhof .	The young worker is laughing in front of the station .
Alle stolzen Bauern ruhen sich vor der Schule aus .	All the proud farmers are resting in front of the school .
Ein freundlicher Gärtner schwimmt im kalten Schwimmbecken .	A friendly gardener is swimming in the cold swimming pool .
Der mutige Wanderer schläft neben einem Brunnen .	The brave hiker is sleeping next to a fountain .
Ein Schüler schläft .	A pupil is sleeping .
Die jungen Touristen angeln am See .	The young tourists are fishing at the lake .
Eine glückliche junge Lehrerin singt unter einer Brücke .	A happy young teacher is singing under a bridge .
Ein mutiger Gärtner steht vor einem großen gelben Zelt .	A brave gardener is standing in front of a big yellow tent .
Mehrere schöne glückliche Schauspielerinnen liegen auf dem großen Teppich .	Several beautiful happy actresses are lying on the big carpet .
Der junge Koch lächelt hinter der Schule .	The young chef is smiling behind the school .
Eine junge Frau erwacht .	A young woman is waking up .
Ein starker Matrose tanzt .	A strong sailor is dancing .
Ein stolzer junger Maler kocht in der großen Küche .	A proud young painter is cooking in the big kitchen .
Die Schüler sitzen unter der Brücke .	The pupils are sitting under the bridge .
Jeder Fotograf kocht draußen .	Every photographer is cooking outside .
Neun Affen spielen auf der grünen Wiese .	Nine monkeys are playing in the green meadow .
Die freundlichen Maler sitzen neben dem Haus .	The friendly painters are sitting next to the house .
Alle kleinen dicken Mäuse schlafen wieder .	All the small fat mice are sleeping again .
Ein Pferd grast wieder .	A horse is grazing again .
Die Tänzerin ruht sich neben dem Zaun aus .	The dancer is resting next to the fence .
Der traurige Esel grast auf der kleinen grünen Wiese .	The sad donkey is grazing in the small green meadow .
Eine junge Nachbarin ruht sich neben der Statue aus .	A young neighbor is resting next to the statue .
Der Arbeiter wartet wieder .	The worker is waiting again .
Der mutige junge Polizist kocht im Hotel .	The brave young police officer is cooking in the hotel .
Einige dünne Männer schreien neben dem Turm .	Some thin men are shouting next to the tower .
Einige Mädchen gähnen draußen .	Some girls are yawning outside .
Die jungen Ärztinnen lächeln am Hafen .	The young doctors are smiling at the harbor .
Ein hungriger Schüler lernt in der Schule .	A hungry pupil is studying in the school .
Der junge Kellner lächelt am schönen ruhigen Strand .	The young waiter is smiling on the beautiful quiet beach .
Einige Köche stehen vor dem großen Schloss .	Some chefs are standing in front of the big castle .
Drei Schüler lernen draußen .	Three pupils are studying outside .
Dieser Arbeiter schwimmt draußen .	This worker is swimming outside .
Der Junge spielt in der Bibliothek .	The boy is playing in the library .
Eine Großmutter kocht .	A grandmother is cooking .
Der Bauer lacht .	The farmer is laughing .
Einige elegante Männer lächeln vor dem Regal .	Some elegant men are smiling in front of the shelf .
Zwei traurige junge Matrosen warten auf der schmalen Brücke .	Two sad young sailors are waiting on the narrow bridge .
Eine Ärztin sitzt hinter dem Baum .	A doctor is sitting behind the tree .
Die Nachbarinnen schlafen vor einem Schloss .	The neighbors are sleeping in front of a castle .
Der Koch liegt auf dem Sofa .	The chef is lying on the sofa .
Drei Jungen spielen in einer Küche .	Three boys are playing in a kitchen .
Ein nasser Hund bellt auf dem grünen Feld .	A wet dog is barking in the green field .
Die mutigen Studenten ruhen sich aus .	The brave students are resting .
Ein Maler kocht .	A painter is cooking .
Viele junge Schauspielerinnen weinen .	Many young actresses are crying .
Ein Mädchen schreit .	A girl is shouting .
Der junge Gärtner lacht vor einem großen Geschäft .	The young gardener is laughing in front of a big shop .
Ein Lamm grast .	A lamb is grazing .
Acht Hunde bellen .	Eight dogs are barking .
Ein Junge angelt auf der Brücke .	A boy is fishing on the bridge .
Die mutigen Fischer spazieren in einer modernen Stadt .	The brave fishermen are walking in a modern city .
Ein blondes Mädchen weint wieder .	A blond girl is crying again .
Das Mädchen lernt am Tisch .	The girl is studying at the table .
Alle freundlichen Schauspielerinnen liegen auf dem schönen Teppich .	All the friendly actresses are lying on the beautiful carpet .
Fünf hungrige Gänse schwimmen in einem See .	Five hungry geese are swimming in a lake .
Die Ärztin lacht auf dem Feld .	The doctor is laughing in the field .
Eine müde junge Krankenschwester arbeitet draußen .	A tired young nurse is working outside .
Die großen Enten schwimmen im Schwimmbecken .	The big ducks are swimming in the swimming pool .
Vier junge Polizisten schreien im Wald .	Four young police officers are shouting in the forest .
Ein junger Mechaniker lacht vor dem Bahnhof .	A young mechanic is laughing in front of the station .
Jeder mutige junge Mechaniker arbeitet wieder .	Every brave young mechanic is working again .
Ein Fischer singt hinter einer Kirche .	A fisherman is singing behind a church .
Die mutige junge Lehrerin wartet .	The brave young teacher is waiting .
Ein Baby schläft .	A baby is sleeping .
Ein hungriger Bär spielt .	A hungry bear is playing .
Die alten Elefanten schlafen .	The old elephants are sleeping .
Ein Clown weint .	A clown is crying .
Die jungen Maler singen in der Schule .	The young painters are singing in the school .
Ein weißer Hund bellt vor dem ruhigen Hotel .	A white dog is barking in front of the quiet hotel .
Alle Polizisten schreien vor dem Schloss .	All the police officers are shouting in front of the castle .
Ein Polizist schreit auf der grünen Wiese .	A police officer is shouting in the green meadow .
Ein Großvater schläft .	A grandfather is sleeping .
Zwei große Affen spielen auf der Wiese .	Two big monkeys are playing in the meadow .
Der junge Fotograf schwimmt wieder .	The young photographer is swimming again .
Ein Hund bellt auf dem kleinen grünen Hügel .	A dog is barking on the small green hill .
Der kleine Hund bellt im dunklen Wald .	The small dog is barking in the dark forest .
Eine schöne Tänzerin arbeitet in der kleinen Küche .	A beautiful dancer is working in the small kitchen .
Der junge Gärtner steht wieder auf .	The young gardener is getting up again .
Das stolze Mädchen schwimmt .	The proud girl is swimming .
Mehrere junge Lehrerinnen warten im kleinen Wald .	Several young teachers are waiting in the small forest .
Drei Onkel schwimmen im Fluss .	Three uncles are swimming in the river .
Zwei freundliche Wanderer singen im kleinen ruhigen Park .	Two friendly hikers are singing in the small quiet park .
Der glückliche Student kocht im Hotel .	The happy student is cooking in the hotel .
Der Student sitzt hinter dem kleinen neuen Geschäft .	The student is sitting behind the small new shop .
Ein Kellner lacht unter einer Brücke .	A waiter is laughing under a bridge .
Diese Schüler lernen zusammen .	These pupils are studying together .
Ein neugieriger Fotograf kocht im Hotel .	A curious photographer is cooking in the hotel .
Viele glückliche Großväter tanzen draußen .	Many happy grandfathers are dancing outside .
Zwei Löwen spielen .	Two lions are playing .
Der Fotograf gähnt .	The photographer is yawning .
Das neugierige Kind spielt hinter dem Baum .	The curious child is playing behind the tree .
Ein Bäcker tanzt in einer Bibliothek .	A baker is dancing in a library .
Diese schwarzen Hunde bellen .	These black dogs are barking .
Ein Esel schläft .	A donkey is sleeping .
Eine weiße Ziege ruht sich hinter dem Zaun aus .	A white goat is resting behind the fence .
Jeder Bäcker liegt unter dem kleinen Baum .	Every baker is lying under the small tree .
Die Ärztin schwimmt im Schwimmbecken .	The doctor is swimming in the swimming pool .
Ein großer Esel grast .	A big donkey is grazing .
Der ältere Matrose angelt am See .	The elderly sailor is fishing at the lake .
Der müde junge Maler steht auf .	The tired young painter is getting up .
Fünf Mädchen weinen .	Five girls are crying .
Ein Matrose schreit im kleinen Hof .	A sailor is shouting in the small courtyard .
Alle neugierigen Schüler warten .	All the curious pupils are waiting .
Drei durstige Jungen angeln draußen .	Three thirsty boys are fishing outside .
Der faule Schüler steht am Strand .	The lazy pupil is standing on the beach .
Ein Schüler lernt am kleinen Tisch .	A pupil is studying at the small table .
Ein junger Student schwimmt in einem kalten Schwimmbecken .	A young student is swimming in a cold swimming pool .
Einige freundliche junge Lehrerinnen ruhen sich aus .	Some friendly young teachers are resting .
Ein glücklicher Schüler steht in einem großen dunklen Zimmer .	A happy pupil is standing in a big dark room .
Sechs junge Studenten lernen in einer Bibliothek .	Six young students are studying in a library .
Einige Bauern schreien hinter der Schule .	Some farmers are shouting behind the school .
Ein junger Arbeiter lacht hinter einer großen modernen Schule .	A young worker is laughing behind a big modern school .
Viele Köche ruhen sich im Hof aus .	Many chefs are resting in the courtyard .
Einige müde Schüler schreien draußen .	Some tired pupils are shouting outside .
Die glückliche junge Tänzerin schläft .	The happy young dancer is sleeping .
Der mutige Onkel schläft auf der breiten Brücke .	The brave uncle is sleeping on the wide bridge .
Drei junge Kellner warten .	Three young waiters are waiting .
Ein junger Student lernt im Büro .	A young student is studying in the office .
Ein hungriger Affe spielt auf der Wiese .	A hungry monkey is playing in the meadow .
Der glückliche Junge angelt am See .	The happy boy is fishing at the lake .
Der mutige junge Mechaniker lächelt hinter dem Museum .	The brave young mechanic is smiling behind the museum .
Die schöne elegante Frau wartet in einem Wald .	The beautiful elegant woman is waiting in a forest .
Das schöne hungrige Mädchen schwimmt .	The beautiful hungry girl is swimming .
Eine Ziege grast .	A goat is grazing .
Die elegante Schauspielerin tanzt hinter einer Kirche .	The elegant actress is dancing behind a church .
Jeder müde Vater steht hinter dem Schloss .	Every tired father is standing behind the castle .
Sieben Musiker spazieren am Strand .	Seven musicians are walking on the beach .
Die großen Löwen spielen zusammen .	The big lions are playing together .
Eine junge blonde Krankenschwester lächelt draußen .	A young blond nurse is smiling outside .
Einige Babys weinen am Tisch .	Some babies are crying at the table .
Jeder Großvater singt .	Every grandfather is singing .
Das kleine Kind weint vor dem Spiegel .	The small child is crying in front of the mirror .
Mehrere glückliche Onkel warten in der Stadt .	Several happy uncles are waiting in the city .
Dieser Polizist schreit im Wald .	This police officer is shouting in the forest .
Ein Musiker lächelt .	A musician is smiling .
Ein Junge spielt neben dem Zaun .	A boy is playing next to the fence .
Ein Polizist schreit im Hof .	A police officer is shouting in the courtyard .
Der ältere Matrose singt im kleinen modernen Hotel .	The elderly sailor is singing in the small modern hotel .
Der ältere Mann sitzt am großen Hafen .	The elderly man is sitting at the big harbor .
Der mutige Clown kocht .	The brave clown is cooking .
Der blonde Schüler tanzt neben der weißen Kirche .	The blond pupil is dancing next to the white church .
Ein freundlicher Clown lacht vor dem Schloss .	A friendly clown is laughing in front of the castle .
Eine mutige junge Ärztin tanzt draußen .	A brave young doctor is dancing outside .
Zwei alte Kühe grasen hinter einem großen Zaun .	Two old cows are grazing behind a big fence .
Zwei Maler tanzen auf dem Hügel .	Two painters are dancing on the hill .
Der Student lernt draußen .	The student is studying outside .
Die Hunde spielen neben einer Statue .	The dogs are playing next to a statue .
Eine junge Tänzerin lacht vor der schönen berühmten Kirche .	A young dancer is laughing in front of the beautiful famous church .
Eine Krankenschwester lächelt hinter einem Museum .	A nurse is smiling behind a museum .
Diese jungen Nachbarinnen warten unter dem grünen Baum .	These young neighbors are waiting under the green tree .
Die blonden Schüler lernen wieder .	The blond pupils are studying again .
Zwei stolze Großmütter lächeln neben einem Turm .	Two proud grandmothers are smiling next to a tower .
Der Mechaniker schwimmt im Schwimmbecken .	The mechanic is swimming in the swimming pool .
Ein junger Tourist kocht im eleganten alten Restaurant .	A young tourist is cooking in the elegant old restaurant .
Der freundliche Bäcker steht neben der Kirche .	The friendly baker is standing next to the church .
Alle müden Onkel arbeiten vor dem Zelt .	All the tired uncles are working in front of the tent .
Eine Nachbarin lächelt neben dem Turm .	A neighbor is smiling next to the tower .
Ein Student singt im Zimmer .	A student is singing in the room .
Sechs alte Hunde bellen auf dem Hügel .	Six old dogs are barking on the hill .
Diese neugierige Katze spielt vor der neuen Schule .	This curious cat is playing in front of the new school .
Der Tourist singt vor dem Zelt .	The tourist is singing in front of the tent .
Einige blonde Krankenschwestern sitzen hinter dem schönen hohen Haus .	Some blond nurses are sitting behind the beautiful tall house .
Ein Arbeiter schreit hinter einer Mauer .	A worker is shouting behind a wall .
Die Großmutter steht draußen auf .	The grandmother is getting up outside .
Ein neugieriger junger Student singt auf einem Hügel .	A curious young student is singing on a hill .
Der müde Mann arbeitet vor dem alten Krankenhaus .	The tired man is working in front of the old hospital .
Ein starker Fischer sitzt vor dem Brunnen .	A strong fisherman is sitting in front of the fountain .
Zwei faule Katzen spielen .	Two lazy cats are playing .
Einige Mechaniker gähnen .	Some mechanics are yawning .
Ein Onkel ruht sich neben dem Haus aus .	An uncle is resting next to the house .
Eine ältere Lehrerin lächelt vor einem Spiegel .	An elderly teacher is smiling in front of a mirror .
Fünf Jungen angeln am langen Fluss .	Five boys are fishing at the long river .
Ein freundlicher Onkel erwacht .	A friendly uncle is waking up .
Der junge Polizist lacht .	The young police officer is laughing .
Ein älterer Tourist gähnt wieder .	An elderly tourist is yawning again .
Die eleganten jungen Tänzerinnen singen hinter einem Geschäft .	The elegant young dancers are singing behind a shop .
Ein älterer Gärtner wartet hinter einem Baum .	An elderly gardener is waiting behind a tree .
Ein fauler Esel grast hinter dem Stall .	A lazy donkey is grazing behind the stable .
Jedes müde Baby lächelt in der Schule .	Every tired baby is smiling in the school .
Eine schöne mutige Frau schreit vor der Kirche .	A beautiful brave woman is shouting in front of the church .
Die kleine Ziege grast auf dem Hügel .	The small goat is grazing on the hill .
Acht schmutzige Mädchen lernen zusammen .	Eight dirty girls are studying together .
Alle freundlichen Großmütter stehen auf dem Hügel .	All the friendly grandmothers are standing on the hill .
Die Krankenschwester liegt unter dem alten grünen Baum .	The nurse is lying under the old green tree .
Neun kleine Kinder weinen wieder .	Nine small children are crying again .
Der Hund bellt hinter einer Mauer .	The dog is barking behind a wall .
Einige junge Väter angeln am See .	Some young fathers are fishing at the lake .
Jeder junge Clown schwimmt im Fluss .	Every young clown is swimming in the river .
Der müde Maler liegt unter dem Baum .	The tired painter is lying under the tree .
Neun faule Studenten lächeln draußen .	Nine lazy students are smiling outside .
Einige Babys weinen in der Bibliothek .	Some babies are crying in the library .
Ein Hund bellt unter einem großen Baum .	A dog is barking under a big tree .
Die müde Großmutter lächelt in der Schule .	The tired grandmother is smiling in the school .
Ein glücklicher junger Koch steht auf .	A happy young chef is getting up .
Sieben dünne Männer weinen vor einer Schule .	Seven thin men are crying in front of a school .
Eine Lehrerin schwimmt im kleinen Fluss .	A teacher is swimming in the small river .
Eine Krankenschwester spaziert in der modernen Stadt .	A nurse is walking in the modern city .
Ein Junge singt vor dem Regal .	A boy is singing in front of the shelf .
Ein junger Mechaniker singt .	A young mechanic is singing .
Alle traurigen Musiker warten neben dem großen berühmten Brunnen .	All the sad musicians are waiting next to the big famous fountain .
Jeder schmutzige Schüler lächelt auf der Straße .	Every dirty pupil is smiling on the street .
Die Frau sitzt auf einem Hügel .	The woman is sitting on a hill .
Ein berühmter junger Fotograf liegt auf der Wiese .	A famous young photographer is lying in the meadow .
Die Matrosen angeln am Fluss .	The sailors are fishing at the river .
Der Fischer schläft im Dorf .	The fisherman is sleeping in the village .
Die Mutter liegt am Strand .	The mother is lying on the beach .
Zwei mutige Onkel angeln auf einer Brücke .	Two brave uncles are fishing on a bridge .
Der schmutzige Junge spaziert an einem Strand .	The dirty boy is walking on a beach .
Die freundliche Schauspielerin schwimmt wieder .	The friendly actress is swimming again .
Mehrere kleine Kinder spielen hinter der schönen leeren Kirche .	Several small children are playing behind the beautiful empty church .
Fünf Studenten lernen am Tisch .	Five students are studying at the table .
Mehrere müde Jungen schreien im schönen Park .	Several tired boys are shouting in the beautiful park .
Der Polizist schreit .	The police officer is shouting .
Ein durstiger Schüler spaziert im kleinen Park .	A thirsty pupil is walking in the small park .
Der müde Gärtner liegt unter dem schönen Baum .	The tired gardener is lying under the beautiful tree .
Ein hungriger Schüler lernt in der neuen Schule .	A hungry pupil is studying in the new school .
Ein Kellner ruht sich am Hafen aus .	A waiter is resting at the harbor .
Eine mutige Mutter singt neben dem Zelt .	A brave mother is singing next to the tent .
Eine Tänzerin arbeitet neben dem weißen Zaun .	A dancer is working next to the white fence .
Ein Student kocht im Hotel .	A student is cooking in the hotel .
Einige müde Großväter angeln am See .	Some tired grandfathers are fishing at the lake .
Ein hungriger junger Hund spielt neben dem weißen Zaun .	A hungry young dog is playing next to the white fence .
Der freundliche Clown wartet im Garten .	The friendly clown is waiting in the garden .
Diese müden jungen Feuerwehrmänner liegen am Strand .	These tired young firefighters are lying on the beach .
Der Wanderer arbeitet unter einem Baum .	The hiker is working under a tree .
Der Fischer ruht sich neben der Hütte aus .	The fisherman is resting next to the hut .
Dieser Bauer kocht in einer Küche .	This farmer is cooking in a kitchen .
Ein glücklicher Tourist kocht draußen .	A happy tourist is cooking outside .
Mehrere Kinder spielen in einem Garten .	Several children are playing in a garden .
Die alte schwarze Ziege grast wieder .	The old black goat is grazing again .
Drei hungrige alte Pferde ruhen sich hinter einem Zaun aus .	Three hungry old horses are resting behind a fence .
Ein neugieriger junger Fotograf gähnt .	A curious young photographer is yawning .
Diese Schüler schwimmen im See .	These pupils are swimming in the lake .
Mehrere mutige Schauspielerinnen spazieren im ruhigen Dorf .	Several brave actresses are walking in the quiet village .
Dieser kleine hungrige Esel grast auf einem Hügel .	This small hungry donkey is grazing on a hill .
Ein Polizist schreit wieder .	A police officer is shouting again .
Eine Frau sitzt auf einem kleinen berühmten Platz .	A woman is sitting in a small famous square .
Das Kind lächelt .	The child is smiling .
Alle Gärtner spazieren in der Stadt .	All the gardeners are walking in the city .
Viele Jungen spielen hinter einem Haus .	Many boys are playing behind a house .
Die Mädchen spielen vor dem Restaurant .	The girls are playing in front of the restaurant .
Eine Nachbarin arbeitet hinter einer Kirche .	A neighbor is working behind a church .
Vier junge Mechaniker stehen vor einem Bahnhof .	Four young mechanics are standing in front of a station .
Ein Mann schreit in einem Dorf .	A man is shouting in a village .
Sechs traurige Krankenschwestern liegen auf dem Sofa .	Six sad nurses are lying on the sofa .
Sechs Großmütter singen im Haus .	Six grandmothers are singing in the house .
Die Lehrerin singt .	The teacher is singing .
Eine Ziege grast draußen .	A goat is grazing outside .
Die müde Mutter spaziert im Dorf .	The tired mother is walking in the village .
Eine nasse Katze gähnt .	A wet cat is yawning .
Der Löwe spielt auf einem grünen Feld .	The lion is playing in a green field .
Die jungen Musiker schwimmen in einem kalten See .	The young musicians are swimming in a cold lake .
Ein müder Kellner lacht draußen .	A tired waiter is laughing outside .
Dieser hungrige junge Student lernt .	This hungry young student is studying .
Eine Schauspielerin gähnt .	An actress is yawning .
Ein Kind schwimmt im See .	A child is swimming in the lake .
Ein müder Onkel lacht auf dem großen Feld .	A tired uncle is laughing in the big field .
Das Baby weint in einem roten Haus .	The baby is crying in a red house .
Der junge Feuerwehrmann wartet vor dem Schloss .	The young firefighter is waiting in front of the castle .
Die müde junge Schauspielerin spaziert auf dem berühmten Platz .	The tired young actress is walking in the famous square .
Vier glückliche Frauen schlafen auf dem Bett .	Four happy women are sleeping on the bed .
Einige Jungen lernen am alten Tisch .	Some boys are studying at the old table .
Eine freundliche junge Nachbarin schläft im schönen ruhigen Park .	A friendly young neighbor is sleeping in the beautiful quiet park .
Ein junger Koch gähnt .	A young chef is yawning .
Das schöne mutige Mädchen schreit auf der Brücke .	The beautiful brave girl is shouting on the bridge .
Drei Polizisten schreien neben dem Turm .	Three police officers are shouting next to the tower .
Das schöne Mädchen erwacht .	The beautiful girl is waking up .
Der blonde Student liegt auf einer Wiese .	The blond student is lying in a meadow .
Der Junge tanzt .	The boy is dancing .
Jeder traurige junge Bauer steht wieder auf .	Every sad young farmer is getting up again .
Ein dünner alter Hund bellt am Strand .	A thin old dog is barking on the beach .
Sieben Mechaniker stehen draußen auf .	Seven mechanics are getting up outside .
Sieben schöne Frauen kochen im Hotel .	Seven beautiful women are cooking in the hotel .
Einige traurige Onkel angeln am See .	Some sad uncles are fishing at the lake .
Die kleine Ziege grast auf einer Wiese .	The small goat is grazing in a meadow .
Die traurige Lehrerin arbeitet vor einem Krankenhaus .	The sad teacher is working in front of a hospital .
Der Bauer schreit neben dem Haus .	The farmer is shouting next to the house .
Die Mädchen lernen am neuen Tisch .	The girls are studying at the new table .
Ein kleines Kind erwacht .	A small child is waking up .
Die müden Schüler lächeln .	The tired pupils are smiling .
Einige Großmütter warten .	Some grandmothers are waiting .
Ein stolzer Vater wartet auf einem Hügel .	A proud father is waiting on a hill .
Drei kleine glückliche Babys lächeln in einer alten Bibliothek .	Three small happy babies are smiling in an old library .
Die glückliche Großmutter singt neben dem alten Zelt .	The happy grandmother is singing next to the old tent .
Ein Löwe spielt im Wald .	A lion is playing in the forest .
Die Bäcker singen hinter dem Baum .	The bakers are singing behind the tree .
Ein kleines müdes Baby weint im Krankenhaus .	A small tired baby is crying in the hospital .
Ein junger Fotograf steht unter dem Baum .	A young photographer is standing under the tree .
Ein müder junger Onkel kocht im Restaurant .	A tired young uncle is cooking in the restaurant .
Ein starker Bär spielt .	A strong bear is playing .
Die glücklichen Jungen schreien auf dem Hügel .	The happy boys are shouting on the hill .
Der Hund schläft hinter dem grünen Baum .	The dog is sleeping behind the green tree .
Ein trauriger junger Matrose schläft auf der grünen Wiese .	A sad young sailor is sleeping in the green meadow .
Ein Mädchen lernt in der Schule .	A girl is studying in the school .
Alle stolzen Großväter sitzen neben einem Turm .	All the proud grandfathers are sitting next to a tower .
Einige neugierige Jungen weinen im Hof .	Some curious boys are crying in the courtyard .
Die jungen Studenten schwimmen im Fluss .	The young students are swimming in the river .
Ein Gärtner spaziert in einer Stadt .	A gardener is walking in a city .
Der Großvater angelt auf einer Brücke .	The grandfather is fishing on a bridge .
Ein freundlicher junger Onkel wartet wieder .	A friendly young uncle is waiting again .
Neun Jungen schwimmen im breiten Fluss .	Nine boys are swimming in the wide river .
Ein Mädchen lernt in der modernen Schule .	A girl is studying in the modern school .
Einige freundliche Tänzerinnen arbeiten zusammen .	Some friendly dancers are working together .
Ein kleiner Fuchs schläft unter einem großen grünen Baum .	A small fox is sleeping under a big green tree .
Diese müden Babys weinen auf einem Teppich .	These tired babies are crying on a carpet .
Die berühmten Musiker sitzen neben einem Zaun .	The famous musicians are sitting next to a fence .
Einige durstige Pferde grasen auf dem Feld .	Some thirsty horses are grazing in the field .
Ein junger Hund bellt hinter einer Hütte .	A young dog is barking behind a hut .
Das große Pferd grast hinter einem Stall .	The big horse is grazing behind a stable .
Ein junger Fischer schläft wieder .	A young fisherman is sleeping again .
Einige Jungen lächeln .	Some boys are smiling .
Die Hunde bellen vor dem Brunnen .	The dogs are barking in front of the fountain .
Ein junger Polizist lächelt wieder .	A young police officer is smiling again .
Einige mutige Bauern schreien .	Some brave farmers are shouting .
Die faulen Esel schlafen auf der schönen grünen Wiese .	The lazy donkeys are sleeping in the beautiful green meadow .
Die Tänzerinnen arbeiten im Krankenhaus .	The dancers are working in the hospital .
Ein junger Matrose kocht draußen .	A young sailor is cooking outside .
Der Junge steht im modernen Büro .	The boy is standing in the modern office .
Acht Studenten lachen vor dem Haus .	Eight students are laughing in front of the house .
Eine elegante Tänzerin wartet vor dem Brunnen .	An elegant dancer is waiting in front of the fountain .
Der müde junge Gärtner steht in der Küche .	The tired young gardener is standing in the kitchen .
Einige Ärztinnen stehen neben dem Baum .	Some doctors are standing next to the tree .
Eine Schauspielerin weint in der Schule .	An actress is crying in the school .
Der blonde Tourist schläft draußen .	The blond tourist is sleeping outside .
Ein Fotograf schwimmt in einem Schwimmbecken .	A photographer is swimming in a swimming pool .
Der Bauer lächelt im Dorf .	The farmer is smiling in the village .
Der Junge steht hinter dem großen neuen Geschäft .	The boy is standing behind the big new shop .
Drei Hunde bellen hinter der schönen dunklen Kirche .	Three dogs are barking behind the beautiful dark church .
Die jungen Mechaniker schwimmen im Fluss .	The young mechanics are swimming in the river .
Drei Feuerwehrmänner kochen im Restaurant .	Three firefighters are cooking in the restaurant .
Eine elegante Schauspielerin weint neben dem Brunnen .	An elegant actress is crying next to the fountain .
Einige freundliche Onkel spazieren an einem Strand .	Some friendly uncles are walking on a beach .
Ein Wanderer wartet hinter dem Geschäft .	A hiker is waiting behind the shop .
Die elegante Tänzerin singt .	The elegant dancer is singing .
Diese elegante Schauspielerin kocht in einem Hotel .	This elegant actress is cooking in a hotel .
Ein kleines schwarzes Pferd grast auf der Wiese .	A small black horse is grazing in the meadow .
Diese jungen Feuerwehrmänner singen zusammen .	These young firefighters are singing together .
Einige hungrige Babys schlafen auf dem Stuhl .	Some hungry babies are sleeping on the chair .
Die Krankenschwester wartet neben dem Turm .	The nurse is waiting next to the tower .
Einige Pferde grasen auf dem Hügel .	Some horses are grazing on the hill .
Ein Koch kocht .	A chef is cooking .
Vier glückliche junge Lehrerinnen arbeiten im Krankenhaus .	Four happy young teachers are working in the hospital .
Der mutige Polizist arbeitet in der Schule .	The brave police officer is working in the school .
Ein Fotograf erwacht .	A photographer is waking up .
Ein Mann liegt auf dem Bett .	A man is lying on the bed .
Der Clown lacht im roten Haus .	The clown is laughing in the red house .
Die müden jungen Fotografen spazieren im Park .	The tired young photographers are walking in the park .
Ein Hund bellt neben dem Zaun .	A dog is barking next to the fence .
Alle jungen Polizisten spazieren auf dem Platz .	All the young police officers are walking in the square .
Einige junge Wanderer spazieren im kleinen grünen Wald .	Some young hikers are walking in the small green forest .
Das kleine Kind spielt hinter dem Geschäft .	The small child is playing behind the shop .
Die müde Mutter gähnt .	The tired mother is yawning .
Eine glückliche Ärztin tanzt im Museum .	A happy doctor is dancing in the museum .
Drei Ärztinnen spazieren im Wald .	Three doctors are walking in the forest .
Viele junge Nachbarinnen schwimmen in einem Fluss .	Many young neighbors are swimming in a river .
Eine traurige Großmutter schwimmt wieder .	A sad grandmother is swimming again .
Vier Ärztinnen singen wieder .	Four doctors are singing again .
Die Katze schläft hinter der Mauer .	The cat is sleeping behind the wall .
Ein Arbeiter schreit unter einer Brücke .	A worker is shouting under a bridge .
Fünf dünne alte Hunde bellen wieder .	Five thin old dogs are barking again .
Der Junge lernt am Tisch .	The boy is studying at the table .
Alle hungrigen Babys lächeln im Restaurant .	All the hungry babies are smiling in the restaurant .
Eine Tänzerin steht auf dem Hügel .	A dancer is standing on the hill .
Ein junger Wanderer kocht in einem Restaurant .	A young hiker is cooking in a restaurant .
Ein junger Kellner schwimmt wieder .	A young waiter is swimming again .
Eine freundliche Großmutter kocht in der Küche .	A friendly grandmother is cooking in the kitchen .
Der junge Tourist kocht in der Küche .	The young tourist is cooking in the kitchen .
Die dicke Gans schwimmt .	The fat goose is swimming .
Der Schüler ruht sich hinter der Kirche aus .	The pupil is resting behind the church .
Die große Kuh steht draußen auf .	The big cow is getting up outside .
Zwei Lehrerinnen gähnen wieder .	Two teachers are yawning again .
Der glückliche Großvater angelt auf der berühmten Brücke .	The happy grandfather is fishing on the famous bridge .
Vier blonde Frauen schreien vor dem großen Hotel .	Four blond women are shouting in front of the big hotel .
Der mutige Musiker liegt auf der grünen Wiese .	The brave musician is lying in the green meadow .
Ein junger Arbeiter spaziert in der Stadt .	A young worker is walking in the city .
Zwei ältere Kellner stehen hinter dem schönen Haus .	Two elderly waiters are standing behind the beautiful house .
Die müde Nachbarin sitzt vor dem Restaurant .	The tired neighbor is sitting in front of the restaurant .
Der Wanderer arbeitet hinter der kleinen Hütte .	The hiker is working behind the small hut .
Der Junge lernt draußen .	The boy is studying outside .
Viele Männer ruhen sich wieder aus .	Many men are resting again .
Die Kuh ruht sich auf einer grünen Wiese aus .	The cow is resting in a green meadow .
Die schwarze Ziege grast auf der kleinen Wiese .	The black goat is grazing in the small meadow .
Ein Maler arbeitet vor dem Zelt .	A painter is working in front of the tent .
Vier kleine Löwen schlafen unter dem Baum .	Four small lions are sleeping under the tree .
Ein schönes müdes Mädchen lernt in einer großen modernen Bibliothek .	A beautiful tired girl is studying in a big modern library .
Vier glückliche Ärztinnen ruhen sich wieder aus .	Four happy doctors are resting again .
Das Baby lächelt wieder .	The baby is smiling again .
Mehrere junge Polizisten lächeln im Hotel .	Several young police officers are smiling in the hotel .
Viele junge Matrosen schreien .	Many young sailors are shouting .
Der Matrose lächelt wieder .	The sailor is smiling again .
Einige müde junge Nachbarinnen kochen im eleganten alten Hotel .	Some tired young neighbors are cooking in the elegant old hotel .
Ein junger Matrose arbeitet am ruhigen Strand .	A young sailor is working on the quiet beach .
Ein junger Onkel lacht in einem kleinen ruhigen Garten .	A young uncle is laughing in a small quiet garden .
Der glückliche junge Arbeiter steht im Zimmer .	The happy young worker is standing in the room .
Mehrere Tänzerinnen warten draußen .	Several dancers are waiting outside .
Einige stolze Jungen lernen in der kleinen modernen Schule .	Some proud boys are studying in the small modern school .
Der Gärtner spaziert im Dorf .	The gardener is walking in the village .
Der Fotograf ruht sich hinter dem Baum aus .	The photographer is resting behind the tree .
Der junge Gärtner wartet .	The young gardener is waiting .
Die Hunde bellen auf der Brücke .	The dogs are barking on the bridge .
Sechs Hunde bellen neben einem Haus .	Six dogs are barking next to a house .
Alle jungen Musiker lächeln unter der Brücke .	All the young musicians are smiling under the bridge .
Ein kleines Kind spielt wieder .	A small child is playing again .
Ein schönes Mädchen spielt auf dem großen Feld .	A beautiful girl is playing in the big field .
Ein durstiges Mädchen spielt vor dem Spiegel .	A thirsty girl is playing in front of the mirror .
Eine Schauspielerin weint wieder .	An actress is crying again .
Die Clowns ruhen sich aus .	The clowns are resting .
Ein glücklicher junger Polizist singt .	A happy young police officer is singing .
Eine Schauspielerin sitzt vor dem Restaurant .	An actress is sitting in front of the restaurant .
Ein müder junger Maler ruht sich auf dem Sofa aus .	A tired young painter is resting on the sofa .
Die jungen Onkel tanzen hinter dem Geschäft .	The young uncles are dancing behind the shop .
Ein Vater lacht vor dem Restaurant .	A father is laughing in front of the restaurant .
Ein hungriger junger Arbeiter arbeitet vor dem Bahnhof .	A hungry young worker is working in front of the station .
Eine Großmutter liegt auf einer kleinen Wiese .	A grandmother is lying in a small meadow .
Der alte Hund bellt auf der schönen schmalen Brücke .	The old dog is barking on the beautiful narrow bridge .
Die Babys lächeln draußen .	The babies are smiling outside .
Die schönen Mädchen sitzen am Hafen .	The beautiful girls are sitting at the harbor .
Zwei Arbeiter lachen vor der Kirche .	Two workers are laughing in front of the church .
Ein durstiger Junge lernt am schönen runden Tisch .	A thirsty boy is studying at the beautiful round table .
Die große schwarze Kuh grast auf dem Hügel .	The big black cow is grazing on the hill .
Ein trauriger junger Koch spaziert in der kleinen Stadt .	A sad young chef is walking in the small city .
Eine Frau schläft hinter einem Baum .	A woman is sleeping behind a tree .
Der neugierige Student tanzt im Büro .	The curious student is dancing in the office .
Ein Mechaniker spaziert am Strand .	A mechanic is walking on the beach .
Mehrere freundliche Bäcker schlafen .	Several friendly bakers are sleeping .
Die braune Kuh grast hinter dem großen Stall .	The brown cow is grazing behind the big stable .
Mehrere Bäcker warten im Wald .	Several bakers are waiting in the forest .
Ein Kind wartet hinter der Mauer .	A child is waiting behind the wall .
Die elegante Frau lächelt .	The elegant woman is smiling .
Drei Jungen angeln am Fluss .	Three boys are fishing at the river .
Eine Schauspielerin kocht .	An actress is cooking .
Ein freundlicher junger Kellner wartet hinter der großen Hütte .	A friendly young waiter is waiting behind the big hut .
Die Schüler lachen neben dem Haus .	The pupils are laughing next to the house .
Die mutigen Fischer stehen wieder auf .	The brave fishermen are getting up again .
Die mutigen jungen Ärztinnen arbeiten neben der Kirche .	The brave young doctors are working next to the church .
Ein Bäcker kocht in der Küche .	A baker is cooking in the kitchen .
Der Hund bellt vor der Kirche .	The dog is barking in front of the church .
Die Ärztinnen schwimmen in einem Fluss .	The doctors are swimming in a river .
Eine junge Nachbarin singt neben dem gelben Haus .	A young neighbor is singing next to the yellow house .
Der schwarze Hund bellt .	The black dog is barking .
Dieser Student steht in einem Geschäft .	This student is standing in a shop .
Ein Lamm grast hinter einem Zaun .	A lamb is grazing behind a fence .
Drei Kinder stehen vor dem Krankenhaus .	Three children are standing in front of the hospital .
Einige kleine Pferde grasen auf einem Feld .	Some small horses are grazing in a field .
Einige schöne Frauen angeln .	Some beautiful women are fishing .
Ein kleines Kind weint draußen .	A small child is crying outside .
Ein schönes schmutziges Mädchen sitzt hinter dem Museum .	A beautiful dirty girl is sitting behind the museum .
Sechs ältere Lehrerinnen arbeiten .	Six elderly teachers are working .
Drei Mädchen kochen .	Three girls are cooking .
Diese freundliche Tänzerin kocht in einer Küche .	This friendly dancer is cooking in a kitchen .
Die berühmten Tänzerinnen lächeln .	The famous dancers are smiling .
Diese müden Großväter schwimmen .	These tired grandfathers are swimming .
Einige freundliche Musiker stehen am großen Hafen .	Some friendly musicians are standing at the big harbor .
Einige müde Matrosen schlafen in einer Stadt .	Some tired sailors are sleeping in a city .
Zwei Nachbarinnen lachen in der alten Schule .	Two neighbors are laughing in the old school .
Die mutigen Kellner lächeln hinter der Hütte .	The brave waiters are smiling behind the hut .
Zwei Bauern tanzen neben der Kirche .	Two farmers are dancing next to the church .
Der mutige Schüler schreit auf der kleinen neuen Brücke .	The brave pupil is shouting on the small new bridge .
Alle Männer singen vor dem kleinen blauen Zelt .	All the men are singing in front of the small blue tent .
Ein Schüler schreit neben der Hütte .	A pupil is shouting next to the hut .
Einige blonde Jungen spielen zusammen .	Some blond boys are playing together .
Die Großmutter sitzt vor einem Geschäft .	The grandmother is sitting in front of a shop .
Ein durstiger Esel grast auf der grünen Wiese .	A thirsty donkey is grazing in the green meadow .
Einige Bauern lächeln im ruhigen Park .	Some farmers are smiling in the quiet park .
Ein Matrose angelt auf der schönen Brücke .	A sailor is fishing on the beautiful bridge .
Ein Fotograf lacht neben einer Hütte .	A photographer is laughing next to a hut .
Die Bäcker schwimmen im großen tiefen Schwimmbecken .	The bakers are swimming in the big deep swimming pool .
Ein mutiger Clown singt wieder .	A brave clown is singing again .
Der Großvater sitzt auf dem Bett .	The grandfather is sitting on the bed .
Einige müde Kellner stehen hinter dem Haus .	Some tired waiters are standing behind the house .
Alle traurigen Jungen lernen draußen .	All the sad boys are studying outside .
Zwei Bären spielen auf einem Feld .	Two bears are playing in a field .
Einige Schüler lernen in der neuen Schule .	Some pupils are studying in the new school .
Der traurige Onkel tanzt neben der alten Hütte .	The sad uncle is dancing next to the old hut .
Einige Lehrerinnen sitzen auf dem großen grauen Sofa .	Some teachers are sitting on the big gray sofa .
Der junge Musiker lächelt in einem großen Museum .	The young musician is smiling in a big museum .
Die mutige Nachbarin arbeitet auf der grünen Wiese .	The brave neighbor is working in the green meadow .
Der alte Löwe spielt .	The old lion is playing .
Diese freundliche junge Ärztin lächelt .	This friendly young doctor is smiling .
Jede kleine weiße Katze spielt vor einem Krankenhaus .	Every small white cat is playing in front of a hospital .
Das kleine braune Pferd grast .	The small brown horse is grazing .
Viele mutige Schüler warten vor dem Zelt .	Many brave pupils are waiting in front of the tent .
Die Arbeiter schreien .	The workers are shouting .
Zwei kleine Löwen spielen auf dem Feld .	Two small lions are playing in the field .
Ein Hund schwimmt .	A dog is swimming .
Der mutige Hund bellt im Wald .	The brave dog is barking in the forest .
Eine braune Kuh grast auf der Wiese .	A brown cow is grazing in the meadow .
Eine Mutter schwimmt .	A mother is swimming .
Eine Frau tanzt im Park .	A woman is dancing in the park .
Der Schüler schläft auf dem Teppich .	The pupil is sleeping on the carpet .
Drei blonde Jungen lernen im Büro .	Three blond boys are studying in the office .
Die hungrigen Babys weinen in einem großen Restaurant .	The hungry babies are crying in a big restaurant .
Alle berühmten jungen Tänzerinnen singen vor dem Geschäft .	All the famous young dancers are singing in front of the shop .
Der neugierige junge Fotograf steht auf einer leeren Straße .	The curious young photographer is standing on an empty street .
Ein Großvater steht im Hof .	A grandfather is standing in the courtyard .
Ein müder junger Student lernt .	A tired young student is studying .
Jeder Hund bellt vor der Kirche .	Every dog is barking in front of the church .
Ein Affe gähnt wieder .	A monkey is yawning again .
Neun starke junge Arbeiter schwimmen im Fluss .	Nine strong young workers are swimming in the river .
Ein glücklicher Koch lächelt auf der Brücke .	A happy chef is smiling on the bridge .
Diese kleinen Hunde bellen draußen .	These small dogs are barking outside .
Eine Katze spielt vor dem Schloss .	A cat is playing in front of the castle .
Ein mutiger Vater schläft vor dem Restaurant .	A brave father is sleeping in front of the restaurant .
Einige Touristen spazieren im Park .	Some tourists are walking in the park .
Sechs Clowns tanzen im großen Krankenhaus .	Six clowns are dancing in the big hospital .
Der glückliche Vater wartet auf dem Feld .	The happy father is waiting in the field .
Die Nachbarinnen spazieren im Park .	The neighbors are walking in the park .
Dieser Polizist gähnt .	This police officer is yawning .
Ein junger Bauer schreit auf dem Feld .	A young farmer is shouting in the field .
Ein kleines Kind liegt unter dem Baum .	A small child is lying under the tree .
Der Hund bellt hinter einer Kirche .	The dog is barking behind a church .
Der Mann spaziert im schönen ruhigen Park .	The man is walking in the beautiful quiet park .
Die junge Ärztin singt hinter dem berühmten Schloss .	The young doctor is singing behind the famous castle .
Zwei Maler ruhen sich hinter dem Baum aus .	Two painters are resting behind the tree .
Die glücklichen Jungen spielen zusammen .	The happy boys are playing together .
Viele nasse Hunde bellen im ruhigen Park .	Many wet dogs are barking in the quiet park .
Eine junge Lehrerin gähnt .	A young teacher is yawning .
Ein Koch schläft auf einem Bett .	A chef is sleeping on a bed .
Ein berühmter Koch arbeitet .	A famous chef is working .
Ein kleines Kamel ruht sich auf einer grünen Wiese aus .	A small camel is resting in a green meadow .
Der Affe spielt auf der Wiese .	The monkey is playing in the meadow .
Das Pferd grast auf dem Feld .	The horse is grazing in the field .
Der Fischer gähnt .	The fisherman is yawning .
Mehrere schöne Frauen schreien vor einem Schloss .	Several beautiful women are shouting in front of a castle .
Ein schönes Mädchen spielt .	A beautiful girl is playing .
Das Kind weint neben der kleinen berühmten Kirche .	The child is crying next to the small famous church .
Zwei stolze junge Bauern lachen im großen Park .	Two proud young farmers are laughing in the big park .
Dieser glückliche junge Student lernt in einem modernen Büro .	This happy young student is studying in a modern office .
Der Koch steht draußen auf .	The chef is getting up outside .
Einige junge Fischer spazieren an einem Strand .	Some young fishermen are walking on a beach .
Fünf Matrosen tanzen hinter dem Museum .	Five sailors are dancing behind the museum .
Ein Schüler lernt in der neuen Schule .	A pupil is studying in the new school .
Der traurige Hund bellt .	The sad dog is barking .
Ein neugieriger Student lernt .	A curious student is studying .
Eine junge Krankenschwester lacht vor dem Brunnen .	A young nurse is laughing in front of the fountain .
Ein trauriger Mechaniker sitzt vor einem Museum .	A sad mechanic is sitting in front of a museum .
Eine Schauspielerin ruht sich vor dem Brunnen aus .	An actress is resting in front of the fountain .
Der Bär spielt im Wald .	The bear is playing in the forest .
Einige mutige Großmütter spazieren im Park .	Some brave grandmothers are walking in the park .
Die faulen Schüler tanzen draußen .	The lazy pupils are dancing outside .
Ein junger Wanderer arbeitet draußen .	A young hiker is working outside .
Ein fauler Schüler lernt draußen .	A lazy pupil is studying outside .
Jeder starke Matrose kocht in einem Restaurant .	Every strong sailor is cooking in a restaurant .
Fünf junge Mechaniker ruhen sich neben dem großen Baum aus .	Five young mechanics are resting next to the big tree .
Die freundlichen Feuerwehrmänner lächeln wieder .	The friendly firefighters are smiling again .
Einige Mädchen weinen wieder .	Some girls are crying again .
Ein fauler Student lernt in einem Büro .	A lazy student is studying in an office .
Der mutige Clown lacht draußen .	The brave clown is laughing outside .
Einige Großmütter warten wieder .	Some grandmothers are waiting again .
Ein glücklicher Bauer tanzt in der Küche .	A happy farmer is dancing in the kitchen .
Die Mädchen weinen hinter der Schule .	The girls are crying behind the school .
Eine Nachbarin lächelt hinter dem Haus .	A neighbor is smiling behind the house .
Alle mutigen jungen Onkel arbeiten .	All the brave young uncles are working .
Zwei glückliche Großmütter tanzen hinter der Schule .	Two happy grandmothers are dancing behind the school .
Ein Kind lächelt vor dem Regal .	A child is smiling in front of the shelf .
Eine alte weiße Katze spielt hinter dem schönen hohen Baum .	An old white cat is playing behind the beautiful tall tree .
Ein Feuerwehrmann singt draußen .	A firefighter is singing outside .
Ein älterer Gärtner lacht wieder .	An elderly gardener is laughing again .
Ein mutiger Schüler schwimmt draußen .	A brave pupil is swimming outside .
Eine Tänzerin tanzt .	A dancer is dancing .
Ein Onkel spaziert am ruhigen Strand .	An uncle is walking on the quiet beach .
Ein schmutziger alter Hund steht auf .	A dirty old dog is getting up .
Sieben glückliche Großväter sitzen vor dem kleinen neuen Krankenhaus .	Seven happy grandfathers are sitting in front of the small new hospital .
Der Matrose kocht in der Küche .	The sailor is cooking in the kitchen .
Eine Lehrerin steht vor der Kirche .	A teacher is standing in front of the church .
Eine schöne Frau erwacht draußen .	A beautiful woman is waking up outside .
Die jungen Krankenschwestern ruhen sich auf dem schönen roten Bett aus .	The young nurses are resting on the beautiful red bed .
Eine freundliche Großmutter lächelt in der Stadt .	A friendly grandmother is smiling in the city .
Die traurigen jungen Bauern schreien hinter der Mauer .	The sad young farmers are shouting behind the wall .
Eine junge Ärztin kocht in der kleinen dunklen Küche .	A young doctor is cooking in the small dark kitchen .
Vier Nachbarinnen warten wieder .	Four neighbors are waiting again .
Ein Schüler schreit vor einem Museum .	A pupil is shouting in front of a museum .
Ein Mädchen spielt .	A girl is playing .
Zehn junge Studenten singen zusammen .	Ten young students are singing together .
Ein Mechaniker singt auf dem Platz .	A mechanic is singing in the square .
Die starken Matrosen arbeiten zusammen .	The strong sailors are working together .
Die müde Krankenschwester spaziert im Park .	The tired nurse is walking in the park .
Der Onkel kocht in der Küche .	The uncle is cooking in the kitchen .
Diese Polizisten warten unter der schönen berühmten Brücke .	These police officers are waiting under the beautiful famous bridge .
Dieser Bauer schreit .	This farmer is shouting .
Ein Großvater arbeitet hinter dem Museum .	A grandfather is working behind the museum .
Alle traurigen Großväter singen am Hafen .	All the sad grandfathers are singing at the harbor .
Der Clown weint draußen .	The clown is crying outside .
Einige mutige Bauern lächeln am großen Hafen .	Some brave farmers are smiling at the big harbor .
Eine Nachbarin tanzt hinter einer Hütte .	A neighbor is dancing behind a hut .
Ein müdes Baby weint .	A tired baby is crying .
Der junge Matrose sitzt auf einer schönen Brücke .	The young sailor is sitting on a beautiful bridge .
Viele Babys schlafen auf einem Sofa .	Many babies are sleeping on a sofa .
Das kleine Kind weint wieder .	The small child is crying again .
Der Mann weint .	The man is crying .
Zehn Clowns weinen neben der großen Hütte .	Ten clowns are crying next to the big hut .
Dieser junge Vater schwimmt in einem großen ruhigen See .	This young father is swimming in a big quiet lake .
Sieben alte Kühe stehen wieder auf .	Seven old cows are getting up again .
Fünf Lehrerinnen spazieren in der Stadt .	Five teachers are walking in the city .
Der junge Vater schläft hinter dem hohen Zaun .	The young father is sleeping behind the tall fence .
Die Lämmer grasen auf dem Hügel .	The lambs are grazing on the hill .
Ein Mann angelt am tiefen See .	A man is fishing at the deep lake .
Der Clown wartet auf dem Platz .	The clown is waiting in the square .
Alle mutigen Nachbarinnen spazieren auf dem leeren Platz .	All the brave neighbors are walking in the empty square .
Die traurigen jungen Fotografen warten vor dem Geschäft .	The sad young photographers are waiting in front of the shop .
Die Matrosen schwimmen in einem See .	The sailors are swimming in a lake .
Einige junge Matrosen stehen neben der Statue .	Some young sailors are standing next to the statue .
Diese Hunde bellen hinter dem alten Schloss .	These dogs are barking behind the old castle .
Das Kind weint unter einem Baum .	The child is crying under a tree .
Ein Koch schläft auf dem Teppich .	A chef is sleeping on the carpet .
Einige Wanderer stehen unter der Brücke .	Some hikers are standing under the bridge .
Ein müder Mann angelt wieder .	A tired man is fishing again .
Der junge Bauer steht auf .	The young farmer is getting up .
Der Fischer kocht in einem Restaurant .	The fisherman is cooking in a restaurant .
Der alte Hund bellt unter dem Baum .	The old dog is barking under the tree .
Viele Fotografen warten .	Many photographers are waiting .
Ein junger Clown lacht in der Stadt .	A young clown is laughing in the city .
Ein Großvater kocht im modernen Hotel .	A grandfather is cooking in the modern hotel .
Ein glücklicher junger Musiker schläft wieder .	A happy young musician is sleeping again .
Der Bauer tanzt .	The farmer is dancing .
Ein Kind spielt auf der Wiese .	A child is playing in the meadow .
Ein fauler Junge schreit draußen .	A lazy boy is shouting outside .
Ein junger Student tanzt .	A young student is dancing .
Zwei Jungen schreien .	Two boys are shouting .
Das junge Pferd grast auf dem Feld .	The young horse is grazing in the field .
Eine Schauspielerin weint auf dem großen Platz .	An actress is crying in the big square .
Dieser Wanderer lächelt .	This hiker is smiling .
Ein trauriger junger Fotograf spaziert auf der Brücke .	A sad young photographer is walking on the bridge .
Ein Clown lächelt .	A clown is smiling .
Ein glücklicher junger Matrose schläft auf dem leeren Platz .	A happy young sailor is sleeping in the empty square .
Ein Wanderer ruht sich vor dem Museum aus .	A hiker is resting in front of the museum .
Ein dünner Clown sitzt in einem Wald .	A thin clown is sitting in a forest .
Ein Clown weint auf dem Stuhl .	A clown is crying on the chair .
Einige große Lämmer grasen auf der Wiese .	Some big lambs are grazing in the meadow .
Mehrere junge Fischer schwimmen .	Several young fishermen are swimming .
Die mutige Schauspielerin kocht .	The brave actress is cooking .
Alle blonden Krankenschwestern liegen auf der Wiese .	All the blond nurses are lying in the meadow .
Ein Gärtner schläft unter der Brücke .	A gardener is sleeping under the bridge .
Viele Kamele schlafen .	Many camels are sleeping .
Einige kleine Kinder schreien hinter der Kirche .	Some small children are shouting behind the church .
Die Tänzerin schwimmt in einem Fluss .	The dancer is swimming in a river .
Drei starke junge Matrosen schreien im Garten .	Three strong young sailors are shouting in the garden .
Jedes Pferd schläft hinter dem Zaun .	Every horse is sleeping behind the fence .
Die mutigen Studenten lachen im Museum .	The brave students are laughing in the museum .
Vier junge Ärztinnen gähnen .	Four young doctors are yawning .
Eine glückliche junge Lehrerin liegt auf der langen Bank .	A happy young teacher is lying on the long bench .
Jeder Junge angelt auf der Brücke .	Every boy is fishing on the bridge .
Drei glückliche Mechaniker liegen am Strand .	Three happy mechanics are lying on the beach .
Der müde Polizist steht auf dem schönen Platz .	The tired police officer is standing in the beautiful square .
Mehrere Polizisten arbeiten neben dem hohen Zaun .	Several police officers are working next to the tall fence .
Das kleine müde Kind spielt .	The small tired child is playing .
Drei große Lämmer grasen auf dem Hügel .	Three big lambs are grazing on the hill .
Der freundliche junge Fotograf lacht draußen .	The friendly young photographer is laughing outside .
Viele Krankenschwestern kochen zusammen .	Many nurses are cooking together .
Ein schönes Mädchen lernt in einer Bibliothek .	A beautiful girl is studying in a library .
Dieser junge Arbeiter wartet .	This young worker is waiting .
Ein mutiger junger Vater arbeitet draußen .	A brave young father is working outside .
Eine junge Nachbarin lacht .	A young neighbor is laughing .
Ein durstiges Mädchen weint wieder .	A thirsty girl is crying again .
Drei ältere Lehrerinnen spazieren im Wald .	Three elderly teachers are walking in the forest .
Eine schöne Frau liegt am Strand .	A beautiful woman is lying on the beach .
Die Kinder ruhen sich aus .	The children are resting .
Drei große Lämmer grasen hinter dem Zaun .	Three big lambs are grazing behind the fence .
Ein Polizist steht im Dorf .	A police officer is standing in the village .
Diese Lämmer grasen auf der Wiese .	These lambs are grazing in the meadow .
Ein Junge liegt auf der Bank .	A boy is lying on the bench .
Eine müde Krankenschwester kocht in einem Restaurant .	A tired nurse is cooking in a restaurant .
Diese Matrosen angeln am Fluss .	These sailors are fishing at the river .
Der traurige Großvater erwacht .	The sad grandfather is waking up .
Ein weißer Hund bellt vor dem Geschäft .	A white dog is barking in front of the shop .
Die Jungen lernen in der Schule .	The boys are studying in the school .
Diese müde Frau angelt auf der Brücke .	This tired woman is fishing on the bridge .
Ein freundlicher Matrose wartet neben dem Zaun .	A friendly sailor is waiting next to the fence .
Eine glückliche Tänzerin kocht .	A happy dancer is cooking .
Der durstige Junge lernt im Büro .	The thirsty boy is studying in the office .
Die junge Nachbarin ruht sich wieder aus .	The young neighbor is resting again .
Ein junger Polizist arbeitet .	A young police officer is working .
Die alte Kuh grast auf dem Feld .	The old cow is grazing in the field .
Sechs mutige Schüler lernen in der ruhigen alten Bibliothek .	Six brave pupils are studying in the quiet old library .
Ein freundlicher Polizist lächelt in der Schule .	A friendly police officer is smiling in the school .
Die Mechaniker ruhen sich auf der Wiese aus .	The mechanics are resting in the meadow .
Eine Tänzerin steht im Zimmer .	A dancer is standing in the room .
Eine Ziege grast auf einem Feld .	A goat is grazing in a field .
Eine dicke Kuh grast hinter dem Stall .	A fat cow is grazing behind the stable .
Ein glücklicher Mechaniker singt vor einem neuen Krankenhaus .	A happy mechanic is singing in front of a new hospital .
Ein junger Mechaniker spaziert in einem Dorf .	A young mechanic is walking in a village .
Ein Koch schläft hinter dem hohen Haus .	A chef is sleeping behind the tall house .
Ein fauler Hund bellt unter dem kleinen Tisch .	A lazy dog is barking under the small table .
Einige kleine Katzen spielen auf der kleinen Wiese .	Some small cats are playing in the small meadow .
Zwei große Kamele schlafen unter dem Baum .	Two big camels are sleeping under the tree .
Ein Mädchen steht im Restaurant .	A girl is standing in the restaurant .
Diese großen Pferde grasen .	These big horses are grazing .
Der freundliche Feuerwehrmann singt neben einer kleinen Kirche .	The friendly firefighter is singing next to a small church .
Der stolze Bauer schwimmt im Fluss .	The proud farmer is swimming in the river .
Der junge Matrose angelt auf der Brücke .	The young sailor is fishing on the bridge .
Ein hungriger Schüler schwimmt .	A hungry pupil is swimming .
Eine schöne berühmte Tänzerin wartet vor dem Haus .	A beautiful famous dancer is waiting in front of the house .
Einige kleine traurige Kinder spielen zusammen .	Some small sad children are playing together .
Alle Bäcker ruhen sich aus .	All the bakers are resting .
Ein neugieriger Tourist singt .	A curious tourist is singing .
Der schmutzige Schüler lernt .	The dirty pupil is studying .
Ein Schüler sitzt neben dem Zaun .	A pupil is sitting next to the fence .
Eine ältere Frau lächelt unter der Brücke .	An elderly woman is smiling under the bridge .
Einige dicke Katzen spielen .	Some fat cats are playing .
Diese Frau arbeitet .	This woman is working .
Viele Tänzerinnen schwimmen im Fluss .	Many dancers are swimming in the river .
Viele Lehrerinnen schwimmen in einem Fluss .	Many teachers are swimming in a river .
Diese Tänzerinnen tanzen in einem ruhigen Hof .	These dancers are dancing in a quiet courtyard .
Ein müder junger Koch wartet wieder .	A tired young chef is waiting again .
Die schöne Tänzerin gähnt .	The beautiful dancer is yawning .
Zwei Ärztinnen sitzen neben einer Kirche .	Two doctors are sitting next to a church .
Ein junger Hund bellt neben der alten Hütte .	A young dog is barking next to the old hut .
Eine freundliche Frau wartet vor einem Krankenhaus .	A friendly woman is waiting in front of a hospital .
Der Koch ruht sich wieder aus .	The chef is resting again .
Ein fauler junger Student lernt in der Schule .	A lazy young student is studying in the school .
Der junge Matrose kocht im Hotel .	The young sailor is cooking in the hotel .
Die Fotografen ruhen sich aus .	The photographers are resting .
Jeder Maler tanzt vor dem Regal .	Every painter is dancing in front of the shelf .
Jeder Gärtner tanzt unter dem alten grünen Baum .	Every gardener is dancing under the old green tree .
Der junge Matrose sitzt auf dem eleganten Sofa .	The young sailor is sitting on the elegant sofa .
Sieben glückliche junge Feuerwehrmänner gähnen .	Seven happy young firefighters are yawning .
Der Großvater angelt am tiefen See .	The grandfather is fishing at the deep lake .
Das kleine Kind tanzt neben dem Zelt .	The small child is dancing next to the tent .
Vier Polizisten spazieren am Strand .	Four police officers are walking on the beach .
Eine junge Frau tanzt neben der Hütte .	A young woman is dancing next to the hut .
Ein stolzer Großvater spaziert auf der Wiese .	A proud grandfather is walking in the meadow .
Ein Hund bellt im Park .	A dog is barking in the park .
Das durstige Mädchen weint hinter dem Baum .	The thirsty girl is crying behind the tree .
Die jungen Matrosen schlafen am Tisch .	The young sailors are sleeping at the table .
Eine mutige Frau tanzt auf einer Straße .	A brave woman is dancing on a street .
Ein Feuerwehrmann erwacht .	A firefighter is waking up .
Ein freundlicher Polizist singt auf einem grünen Feld .	A friendly police officer is singing in a green field .
Ein Hund bellt unter einem Baum .	A dog is barking under a tree .
Die müden Polizisten spazieren auf dem Platz .	The tired police officers are walking in the square .
Eine elegante Frau liegt unter dem Baum .	An elegant woman is lying under the tree .
Der junge Student schwimmt .	The young student is swimming .
Ein junger Gärtner schwimmt in einem Schwimmbecken .	A young gardener is swimming in a swimming pool .
Alle schönen blonden Schauspielerinnen schwimmen draußen .	All the beautiful blond actresses are swimming outside .
Der müde Feuerwehrmann wartet auf der Straße .	The tired firefighter is waiting on the street .
Ein junger blonder Student spaziert in der Stadt .	A young blond student is walking in the city .
Ein hungriges Baby lächelt draußen .	A hungry baby is smiling outside .
Viele Lämmer grasen hinter einem kleinen dunklen Stall .	Many lambs are grazing behind a small dark stable .
Zwei Wanderer schlafen in einem Dorf .	Two hikers are sleeping in a village .
Der junge Clown weint in der alten Bibliothek .	The young clown is crying in the old library .
Ein Hund bellt unter der Brücke .	A dog is barking under the bridge .
Ein alter Löwe spielt .	An old lion is playing .
Viele Kinder schreien neben einer Hütte .	Many children are shouting next to a hut .
Ein junger Gärtner lacht in einer modernen Stadt .	A young gardener is laughing in a modern city .
Der hungrige junge Wanderer liegt auf einem Bett .	The hungry young hiker is lying on a bed .
Der ältere Gärtner steht neben dem Turm .	The elderly gardener is standing next to the tower .
Der mutige junge Polizist spaziert im ruhigen Park .	The brave young police officer is walking in the quiet park .
Die Schüler schreien hinter dem Baum .	The pupils are shouting behind the tree .
Ein Student lernt in der Bibliothek .	A student is studying in the library .
Der Fischer lacht am kleinen ruhigen Strand .	The fisherman is laughing on the small quiet beach .
Eine mutige junge Ärztin tanzt .	A brave young doctor is dancing .
Der blonde Junge spielt unter der Brücke .	The blond boy is playing under the bridge .
Ein Mädchen ruht sich an einem Strand aus .	A girl is resting on a beach .
Diese jungen Touristen angeln auf einer Brücke .	These young tourists are fishing on a bridge .
Der freundliche Onkel lächelt im Restaurant .	The friendly uncle is smiling in the restaurant .
Der müde Student lächelt in einem Hof .	The tired student is smiling in a courtyard .
Die alte Katze spielt im Dorf .	The old cat is playing in the village .
Ein mutiger junger Kellner singt neben einer Bank .	A brave young waiter is singing next to a bench .
Ein Großvater liegt auf dem Teppich .	A grandfather is lying on the carpet .
Die müde Großmutter singt .	The tired grandmother is singing .
Ein Kind wartet .	A child is waiting .
Mehrere freundliche Köche spazieren in der alten Stadt .	Several friendly chefs are walking in the old city .
Der Fotograf arbeitet neben dem Haus .	The photographer is working next to the house .
Eine Lehrerin singt .	A teacher is singing .
Die freundliche junge Mutter schwimmt in einem Fluss .	The friendly young mother is swimming in a river .
Das hungrige junge Pferd grast .	The hungry young horse is grazing .
Die Studenten schwimmen im Schwimmbecken .	The students are swimming in the swimming pool .
Die Tänzerinnen ruhen sich auf einer Straße aus .	The dancers are resting on a street .
Neun Väter lachen .	Nine fathers are laughing .
Eine große braune Kuh grast auf dem grünen Feld .	A big brown cow is grazing in the green field .
Die junge Frau arbeitet hinter dem modernen Geschäft .	The young woman is working behind the modern shop .
Der junge Vater angelt wieder .	The young father is fishing again .
Ein freundlicher junger Onkel schwimmt in einem kleinen tiefen Schwimmbecken .	A friendly young uncle is swimming in a small deep swimming pool .
Ein Mädchen lernt .	A girl is studying .
Einige glückliche junge Maler lachen vor dem Brunnen .	Some happy young painters are laughing in front of the fountain .
Eine schöne Schauspielerin erwacht .	A beautiful actress is waking up .
Ein Koch lacht draußen .	A chef is laughing outside .
Ein trauriger Junge sitzt neben der Bank .	A sad boy is sitting next to the bench .
Drei durstige Hunde bellen hinter dem Haus .	Three thirsty dogs are barking behind the house .
Die jungen Musiker lächeln vor dem kleinen Schloss .	The young musicians are smiling in front of the small castle .
Diese glücklichen Nachbarinnen lächeln draußen .	These happy neighbors are smiling outside .
Die jungen Kellner singen zusammen .	The young waiters are singing together .
Einige junge Ärztinnen warten vor dem kleinen bunten Zelt .	Some young doctors are waiting in front of the small colorful tent .
Alle freundlichen jungen Polizisten kochen im kleinen Hotel .	All the friendly young police officers are cooking in the small hotel .
Die Männer warten .	The men are waiting .
Ein glücklicher Matrose angelt draußen .	A happy sailor is fishing outside .
Ein glücklicher Kellner lächelt .	A happy waiter is smiling .
Viele müde Kamele ruhen sich aus .	Many tired camels are resting .
Der alte Esel grast hinter dem Stall .	The old donkey is grazing behind the stable .
Ein Kind lächelt unter einer Brücke .	A child is smiling under a bridge .
Ein Großvater singt neben einem Zaun .	A grandfather is singing next to a fence .
Acht faule alte Hunde spielen .	Eight lazy old dogs are playing .
Ein dünner Mann sitzt unter einer berühmten Brücke .	A thin man is sitting under a famous bridge .
Dieser junge Mechaniker arbeitet auf der Wiese .	This young mechanic is working in the meadow .
Der Maler liegt auf dem Teppich .	The painter is lying on the carpet .
Ein blonder Tourist ruht sich auf dem Bett aus .	A blond tourist is resting on the bed .
Sechs junge Köche ruhen sich am Tisch aus .	Six young chefs are resting at the table .
Ein glücklicher Großvater lächelt im Restaurant .	A happy grandfather is smiling in the restaurant .
Die traurigen Onkel stehen vor dem Haus .	The sad uncles are standing in front of the house .
Ein mutiger junger Gärtner arbeitet wieder .	A brave young gardener is working again .
Zwei traurige junge Wanderer spazieren im Wald .	Two sad young hikers are walking in the forest .
Eine junge Schauspielerin weint .	A young actress is crying .
Alle dünnen Clowns spazieren am schönen ruhigen Strand .	All the thin clowns are walking on the beautiful quiet beach .
Vier müde Männer spazieren im Wald .	Four tired men are walking in the forest .
Die jungen Onkel singen vor dem Geschäft .	The young uncles are singing in front of the shop .
Der junge Arbeiter lacht vor einem Krankenhaus .	The young worker is laughing in front of a hospital .
Mehrere Onkel stehen auf dem Feld .	Several uncles are standing in the field .
Einige Polizisten warten auf dem Hügel .	Some police officers are waiting on the hill .
Ein fauler Schüler schreit hinter der Mauer .	A lazy pupil is shouting behind the wall .
Einige Pferde grasen wieder .	Some horses are grazing again .
Der traurige Matrose schläft im schönen Garten .	The sad sailor is sleeping in the beautiful garden .
Jeder dünne Junge lernt wieder .	Every thin boy is studying again .
Der mutige Student lernt .	The brave student is studying .
Neun schöne Mädchen lernen in einem modernen Büro .	Nine beautiful girls are studying in a modern office .
Der Hund bellt neben einer Hütte .	The dog is barking next to a hut .
Eine Großmutter sitzt neben einem Brunnen .	A grandmother is sitting next to a fountain .
Jede blonde Schauspielerin arbeitet unter dem Baum .	Every blond actress is working under the tree .
Ein Mann spaziert in einem Wald .	A man is walking in a forest .
Der glückliche Junge lernt im Büro .	The happy boy is studying in the office .
Zwei freundliche junge Musiker arbeiten im Wald .	Two friendly young musicians are working in the forest .
Ein glücklicher Bauer gähnt .	A happy farmer is yawning .
Ein Mädchen lacht hinter einer Mauer .	A girl is laughing behind a wall .
Einige Onkel lachen .	Some uncles are laughing .
Der Mechaniker wartet im ruhigen Hof .	The mechanic is waiting in the quiet courtyard .
Die freundliche Frau schreit draußen .	The friendly woman is shouting outside .
Ein junger Fischer schwimmt .	A young fisherman is swimming .
Der freundliche Arbeiter singt im großen Geschäft .	The friendly worker is singing in the big shop .
Acht junge Kellner stehen auf .	Eight young waiters are getting up .
Der junge Musiker sitzt auf dem Stuhl .	The young musician is sitting on the chair .
Die Kinder spielen in der Stadt .	The children are playing in the city .
Die schöne freundliche Schauspielerin liegt auf dem Sofa .	The beautiful friendly actress is lying on the sofa .
Ein Großvater lächelt draußen .	A grandfather is smiling outside .
Eine Frau schläft neben einer Hütte .	A woman is sleeping next to a hut .
Ein Hund bellt vor dem Krankenhaus .	A dog is barking in front of the hospital .
Diese jungen Studenten lernen wieder .	These young students are studying again .
Ein starker Löwe spielt auf der schönen Wiese .	A strong lion is playing in the beautiful meadow .
Der Polizist schreit vor dem Geschäft .	The police officer is shouting in front of the shop .
Ein junger Wanderer lacht im Wald .	A young hiker is laughing in the forest .
Der Hund bellt wieder .	The dog is barking again .
Ein Fischer angelt draußen .	A fisherman is fishing outside .
Der Tourist kocht in einem Restaurant .	The tourist is cooking in a restaurant .
Ein mutiger Kellner lächelt in einem großen modernen Krankenhaus .	A brave waiter is smiling in a big modern hospital .
Ein älterer Fischer liegt unter dem Baum .	An elderly fisherman is lying under the tree .
Der Junge wartet hinter dem Geschäft .	The boy is waiting behind the shop .
Einige Männer arbeiten an einem Strand .	Some men are working on a beach .
Das schöne hungrige Mädchen weint .	The beautiful hungry girl is crying .
Drei Musiker liegen am Strand .	Three musicians are lying on the beach .
Die Krankenschwester kocht .	The nurse is cooking .
Ein trauriger Mechaniker tanzt in der kleinen Küche .	A sad mechanic is dancing in the small kitchen .
Diese Mütter tanzen im ruhigen Wald .	These mothers are dancing in the quiet forest .
Diese schönen Frauen lachen im großen Geschäft .	These beautiful women are laughing in the big shop .
Der hungrige Affe spielt auf einer grünen Wiese .	The hungry monkey is playing in a green meadow .
Ein stolzer Feuerwehrmann lacht vor dem Regal .	A proud firefighter is laughing in front of the shelf .
Ein trauriger Feuerwehrmann wartet neben dem Zaun .	A sad firefighter is waiting next to the fence .
Der hungrige junge Hund bellt .	The hungry young dog is barking .
Eine Großmutter spaziert im Dorf .	A grandmother is walking in the village .
Ein Clown arbeitet neben einer Kirche .	A clown is working next to a church .
Die Kinder ruhen sich auf dem Bett aus .	The children are resting on the bed .
Ein neugieriger Schüler singt vor dem Geschäft .	A curious pupil is singing in front of the shop .
Zwei freundliche Musiker sitzen unter einem Baum .	Two friendly musicians are sitting under a tree .
Ein neugieriges Mädchen schreit im ruhigen Park .	A curious girl is shouting in the quiet park .
Ein schmutziger Schüler schläft .	A dirty pupil is sleeping .
Der faule alte Löwe spielt im dunklen Wald .	The lazy old lion is playing in the dark forest .
Diese traurigen Mechaniker warten hinter dem Schloss .	These sad mechanics are waiting behind the castle .
Ein junger Onkel angelt draußen .	A young uncle is fishing outside .
Drei Polizisten schreien .	Three police officers are shouting .
Ein mutiger Hund bellt hinter der neuen Schule .	A brave dog is barking behind the new school .
Einige neugierige junge Touristen arbeiten neben einem schönen neuen Haus .	Some curious young tourists are working next to a beautiful new house .
Der stolze Junge weint unter dem schönen Baum .	The proud boy is crying under the beautiful tree .
Die glücklichen Krankenschwestern sitzen vor dem schönen Haus .	The happy nurses are sitting in front of the beautiful house .
Die kleinen Hunde bellen wieder .	The small dogs are barking again .
Der glückliche Clown steht draußen auf .	The happy clown is getting up outside .
Der junge Onkel lacht .	The young uncle is laughing .
Der müde Onkel lacht neben dem Zaun .	The tired uncle is laughing next to the fence .
Eine mutige junge Krankenschwester tanzt im Haus .	A brave young nurse is dancing in the house .
Das mutige Kind singt im Haus .	The brave child is singing in the house .
Die jungen Väter lachen unter dem Baum .	The young fathers are laughing under the tree .
Die mutigen jungen Touristen gähnen wieder .	The brave young tourists are yawning again .
Einige junge Gärtner schlafen auf dem Hügel .	Some young gardeners are sleeping on the hill .
Ein junger Feuerwehrmann ruht sich hinter der weißen Mauer aus .	A young firefighter is resting behind the white wall .
Der ältere Kellner wartet auf dem Hügel .	The elderly waiter is waiting on the hill .
Ein starker junger Fischer schläft vor der Schule .	A strong young fisherman is sleeping in front of the school .
Die glücklichen jungen Studenten singen .	The happy young students are singing .
Alle Hunde bellen draußen .	All the dogs are barking outside .
Zwei mutige Großväter schwimmen .	Two brave grandfathers are swimming .
Eine Großmutter spaziert auf dem kleinen Platz .	A grandmother is walking in the small square .
Das Kamel schläft .	The camel is sleeping .
Mehrere Bäcker singen hinter der weißen Mauer .	Several bakers are singing behind the white wall .
Der Hund bellt neben der Bank .	The dog is barking next to the bench .
Der Wanderer lächelt im roten Haus .	The hiker is smiling in the red house .
Dieser junge Bauer lacht in einer Stadt .	This young farmer is laughing in a city .
Ein müder junger Clown weint neben der Hütte .	A tired young clown is crying next to the hut .
Ein Hund bellt vor dem modernen Krankenhaus .	A dog is barking in front of the modern hospital .
Der junge Gärtner liegt auf der blauen Bank .	The young gardener is lying on the blue bench .
Ein Koch lächelt hinter einer Kirche .	A chef is smiling behind a church .
Eine Frau tanzt wieder .	A woman is dancing again .
Die schöne traurige Tänzerin sitzt neben der Statue .	The beautiful sad dancer is sitting next to the statue .
Die mutige Frau kocht in der Küche .	The brave woman is cooking in the kitchen .
Ein Feuerwehrmann schwimmt im kalten Schwimmbecken .	A firefighter is swimming in the cold swimming pool .
Der junge Mechaniker lächelt wieder .	The young mechanic is smiling again .
Zehn Clowns warten .	Ten clowns are waiting .
Fünf freundliche Gärtner ruhen sich unter der Brücke aus .	Five friendly gardeners are resting under the bridge .
Eine Frau schreit vor dem Krankenhaus .	A woman is shouting in front of the hospital .
Jeder kleine Hund spielt .	Every small dog is playing .
Der Student arbeitet am Hafen .	The student is working at the harbor .
Ein junger Student steht vor dem Brunnen .	A young student is standing in front of the fountain .
Eine Schauspielerin erwacht draußen .	An actress is waking up outside .
Die glückliche Frau lächelt im Geschäft .	The happy woman is smiling in the shop .
Die Großväter lächeln unter der Brücke .	The grandfathers are smiling under the bridge .
Viele Schauspielerinnen weinen hinter der Mauer .	Many actresses are crying behind the wall .
Der stolze junge Vater angelt am kleinen See .	The proud young father is fishing at the small lake .
Ein müder Bauer lacht auf der Wiese .	A tired farmer is laughing in the meadow .
Ein Musiker ruht sich neben dem Brunnen aus .	A musician is resting next to the fountain .
Ein Junge singt in der neuen Küche .	A boy is singing in the new kitchen .
Mehrere Babys erwachen draußen .	Several babies are waking up outside .
Der junge Vater schläft am Hafen .	The young father is sleeping at the harbor .
Der Hund bellt unter dem Sofa .	The dog is barking under the sofa .
Sechs Schauspielerinnen weinen neben einem Baum .	Six actresses are crying next to a tree .
Ein müder Onkel arbeitet im Wald .	A tired uncle is working in the forest .
Acht stolze Jungen angeln am See .	Eight proud boys are fishing at the lake .
Die neugierigen Affen spielen auf der Wiese .	The curious monkeys are playing in the meadow .
Dieser starke Matrose angelt auf der Brücke .	This strong sailor is fishing on the bridge .
Dieser junge Arbeiter lächelt auf einem Hügel .	This young worker is smiling on a hill .
Ein schönes Mädchen schreit vor dem Brunnen .	A beautiful girl is shouting in front of the fountain .
Dieser Junge lernt in einer Schule .	This boy is studying in a school .
Die Katze ruht sich vor der Kirche aus .	The cat is resting in front of the church .
Der glückliche junge Gärtner liegt auf einer grünen Wiese .	The happy young gardener is lying in a green meadow .
Der Feuerwehrmann lacht im Restaurant .	The firefighter is laughing in the restaurant .
Ein glücklicher Mechaniker lacht wieder .	A happy mechanic is laughing again .
Einige junge Köche lachen im Garten .	Some young chefs are laughing in the garden .
Viele kleine Katzen spielen im Wald .	Many small cats are playing in the forest .
Ein Fischer arbeitet hinter der Kirche .	A fisherman is working behind the church .
Einige Löwen spielen auf der Wiese .	Some lions are playing in the meadow .
Diese blonde Lehrerin lacht im Büro .	This blond teacher is laughing in the office .
Dieser Kellner wartet vor der Kirche .	This waiter is waiting in front of the church .
Eine Lehrerin schwimmt im Fluss .	A teacher is swimming in the river .
Ein Schüler tanzt auf dem Feld .	A pupil is dancing in the field .
Die Mädchen lernen im großen neuen Büro .	The girls are studying in the big new office .
Der junge Student spaziert am Strand .	The young student is walking on the beach .
Alle hungrigen Jungen weinen vor einem berühmten Museum .	All the hungry boys are crying in front of a famous museum .
Ein trauriger junger Bauer wartet vor der Kirche .	A sad young farmer is waiting in front of the church .
Der Clown singt im Park .	The clown is singing in the park .
Ein Mechaniker sitzt vor dem Hotel .	A mechanic is sitting in front of the hotel .
Das schöne stolze Mädchen schreit .	The beautiful proud girl is shouting .
Die mutigen Mechaniker singen draußen .	The brave mechanics are singing outside .
Ein junger Matrose arbeitet hinter dem Haus .	A young sailor is working behind the house .
Ein kleines Baby lacht in einem alten Restaurant .	A small baby is laughing in an old restaurant .
Die Männer ruhen sich draußen aus .	The men are resting outside .
Ein mutiger junger Fischer kocht in einer warmen Küche .	A brave young fisherman is cooking in a warm kitchen .
Eine schöne Frau schwimmt im kleinen tiefen Fluss .	A beautiful woman is swimming in the small deep river .
Ein Mädchen weint vor einem Schloss .	A girl is crying in front of a castle .
Ein Polizist lacht vor dem alten Haus .	A police officer is laughing in front of the old house .
Eine glückliche Ärztin lächelt .	A happy doctor is smiling .
Ein junger Matrose angelt auf der Brücke .	A young sailor is fishing on the bridge .
Alle traurigen jungen Ärztinnen gähnen .	All the sad young doctors are yawning .
Die Krankenschwester lächelt hinter der Hütte .	The nurse is smiling behind the hut .
Ein freundlicher Fotograf liegt auf der Wiese .	A friendly photographer is lying in the meadow .
Der freundliche Polizist schreit vor dem Krankenhaus .	The friendly police officer is shouting in front of the hospital .
Alle Fischer angeln wieder .	All the fishermen are fishing again .
Die junge Schauspielerin ruht sich wieder aus .	The young actress is resting again .
Die Frau liegt auf dem alten Teppich .	The woman is lying on the old carpet .
Die freundlichen jungen Touristen gähnen draußen .	The friendly young tourists are yawning outside .
Vier junge Mütter arbeiten wieder .	Four young mothers are working again .
Eine junge Mutter schläft hinter einem Schloss .	A young mother is sleeping behind a castle .
Der Fischer sitzt auf der Straße .	The fisherman is sitting on the street .
Jede mutige Krankenschwester wartet auf einem grünen Hügel .	Every brave nurse is waiting on a green hill .
Zwei müde Großväter spazieren in einem Dorf .	Two tired grandfathers are walking in a village .
Ein durstiger Arbeiter schwimmt im großen Schwimmbecken .	A thirsty worker is swimming in the big swimming pool .
Ein glücklicher Junge spielt hinter der Kirche .	A happy boy is playing behind the church .
Einige Schüler stehen vor dem Schloss .	Some pupils are standing in front of the castle .
Der Wanderer ruht sich hinter dem Museum aus .	The hiker is resting behind the museum .
Jeder mutige Gärtner liegt auf einer neuen Bank .	Every brave gardener is lying on a new bench .
Ein Bäcker gähnt wieder .	A baker is yawning again .
Zwei traurige Köche spazieren auf einer Wiese .	Two sad chefs are walking in a meadow .
Vier junge Nachbarinnen stehen auf .	Four young neighbors are getting up .
Die Großmütter tanzen zusammen .	The grandmothers are dancing together .
Die alte Kuh grast auf der Wiese .	The old cow is grazing in the meadow .
Der faule Junge weint vor einem Bahnhof .	The lazy boy is crying in front of a station .
Zwei Maler stehen auf .	Two painters are getting up .
Ein stolzer junger Onkel angelt auf der berühmten Brücke .	A proud young uncle is fishing on the famous bridge .
Mehrere müde Touristen angeln auf der schmalen Brücke .	Several tired tourists are fishing on the narrow bridge .
Der traurige Matrose schreit .	The sad sailor is shouting .
Die Frau kocht .	The woman is cooking .
Der glückliche Mann angelt .	The happy man is fishing .
Einige junge Touristen arbeiten neben dem Brunnen .	Some young tourists are working next to the fountain .
Der junge Bäcker wartet .	The young baker is waiting .
Ein junger Clown weint auf der Straße .	A young clown is crying on the street .
Der glückliche Fischer angelt .	The happy fisherman is fishing .
Diese junge blonde Schauspielerin tanzt im Hof .	This young blond actress is dancing in the courtyard .
Die Krankenschwester spaziert auf einer Wiese .	The nurse is walking in a meadow .
Der müde Tourist angelt am See .	The tired tourist is fishing at the lake .
Ein junger brauner Hund bellt vor dem Restaurant .	A young brown dog is barking in front of the restaurant .
Ein Kind weint in einem großen ruhigen Hof .	A child is crying in a big quiet courtyard .
Die müden jungen Pferde grasen auf der schönen grünen Wiese .	The tired young horses are grazing in the beautiful green meadow .
Der hungrige junge Wanderer steht auf .	The hungry young hiker is getting up .
Die jungen Musiker sitzen neben einem Zelt .	The young musicians are sitting next to a tent .
Der Schüler spielt wieder .	The pupil is playing again .
Vier Lehrerinnen arbeiten .	Four teachers are working .
Der glückliche junge Matrose tanzt draußen .	The happy young sailor is dancing outside .
Eine Mutter lächelt draußen .	A mother is smiling outside .
Eine Lehrerin ruht sich aus .	A teacher is resting .
Ein Vater arbeitet auf einer Wiese .	A father is working in a meadow .
Eine Großmutter erwacht .	A grandmother is waking up .
Eine junge Krankenschwester schwimmt .	A young nurse is swimming .
Die traurige Lehrerin wartet in einem Wald .	The sad teacher is waiting in a forest .
Dieser braune Hund bellt auf dem kleinen grünen Feld .	This brown dog is barking in the small green field .
Die mutigen Kinder spielen draußen .	The brave children are playing outside .
Die müde junge Ärztin singt wieder .	The tired young doctor is singing again .
Diese Kinder schreien vor dem Zelt .	These children are shouting in front of the tent .
Fünf traurige junge Väter schwimmen draußen .	Five sad young fathers are swimming outside .
Mehrere Mechaniker kochen im Hotel .	Several mechanics are cooking in the hotel .
Der junge Clown sitzt hinter dem Geschäft .	The young clown is sitting behind the shop .
Der stolze Musiker liegt auf der Wiese .	The proud musician is lying in the meadow .
Mehrere junge Hunde bellen hinter der Mauer .	Several young dogs are barking behind the wall .
Ein trauriger Mechaniker spaziert am Strand .	A sad mechanic is walking on the beach .
Die schöne Tänzerin singt draußen .	The beautiful dancer is singing outside .
Der junge Tourist lacht hinter dem Haus .	The young tourist is laughing behind the house .
Vier Enten schwimmen im schönen See .	Four ducks are swimming in the beautiful lake .
Mehrere Schüler liegen unter einem Baum .	Several pupils are lying under a tree .
Sieben Bäcker tanzen im Krankenhaus .	Seven bakers are dancing in the hospital .
Der freundliche Junge sitzt im Dorf .	The friendly boy is sitting in the village .
Ein junger Student lacht im Haus .	A young student is laughing in the house .
Ein glücklicher Schüler lernt wieder .	A happy pupil is studying again .
Eine glückliche Lehrerin steht auf .	A happy teacher is getting up .
Der Gärtner lächelt unter dem Baum .	The gardener is smiling under the tree .
Ein junger Mechaniker lächelt hinter dem Haus .	A young mechanic is smiling behind the house .
Vier starke Männer weinen auf dem grauen Teppich .	Four strong men are crying on the gray carpet .
Ein älterer Bauer lacht draußen .	An elderly farmer is laughing outside .
Eine Krankenschwester ruht sich hinter der großen Mauer aus .	A nurse is resting behind the big wall .
Viele Tänzerinnen lächeln auf dem Feld .	Many dancers are smiling in the field .
Zwei neugierige Füchse spielen unter dem Baum .	Two curious foxes are playing under the tree .
Ein Maler schläft draußen .	A painter is sleeping outside .
Ein kleines hungriges Kind singt neben der kleinen Hütte .	A small hungry child is singing next to the small hut .
Ein durstiges Kind wartet neben der Kirche .	A thirsty child is waiting next to the church .
Mehrere müde Großväter lächeln .	Several tired grandfathers are smiling .
Ein Hund bellt vor dem Geschäft .	A dog is barking in front of the shop .
Zwei kleine Hunde bellen .	Two small dogs are barking .
Die Touristen lachen in der Küche .	The tourists are laughing in the kitchen .
Sieben Bäcker erwachen wieder .	Seven bakers are waking up again .
Ein stolzer junger Maler sitzt hinter einem Museum .	A proud young painter is sitting behind a museum .
Eine hungrige Kuh grast hinter einem Stall .	A hungry cow is grazing behind a stable .
Ein dünner Mann lächelt im Krankenhaus .	A thin man is smiling in the hospital .
Die neugierigen Jungen lernen in der neuen Schule .	The curious boys are studying in the new school .
Viele Großmütter lächeln hinter einem kleinen Haus .	Many grandmothers are smiling behind a small house .
Die Lehrerinnen sitzen neben dem Brunnen .	The teachers are sitting next to the fountain .
Viele stolze Großmütter schlafen im Garten .	Many proud grandmothers are sleeping in the garden .
Mehrere freundliche Großmütter warten neben einer kleinen Hütte .	Several friendly grandmothers are waiting next to a small hut .
Ein glücklicher Gärtner wartet im Dorf .	A happy gardener is waiting in the village .
Der Maler lacht neben einer Hütte .	The painter is laughing next to a hut .
Das schöne traurige Mädchen singt hinter dem alten Museum .	The beautiful sad girl is singing behind the old museum .
Ein berühmter junger Musiker wartet auf der Brücke .	A famous young musician is waiting on the bridge .
Ein hungriger junger Arbeiter schreit hinter dem Haus .	A hungry young worker is shouting behind the house .
Die Tänzerin wartet neben einem alten weißen Zaun .	The dancer is waiting next to an old white fence .
Einige Frauen weinen .	Some women are crying .
Eine Großmutter kocht in der Küche .	A grandmother is cooking in the kitchen .
Acht schmutzige Schüler liegen auf dem Sofa .	Eight dirty pupils are lying on the sofa .
Ein Arbeiter schreit vor dem dunklen Schloss .	A worker is shouting in front of the dark castle .
Einige Bauern schwimmen im See .	Some farmers are swimming in the lake .
Sieben kleine Kinder liegen unter dem Baum .	Seven small children are lying under the tree .
Der Vater steht neben der Hütte .	The father is standing next to the hut .
Die junge Lehrerin schläft draußen .	The young teacher is sleeping outside .
Ein freundlicher Junge weint in der neuen Bibliothek .	A friendly boy is crying in the new library .
Sieben Jungen tanzen zusammen .	Seven boys are dancing together .
Die glückliche Großmutter spaziert in der Stadt .	The happy grandmother is walking in the city .
Die Gänse schwimmen .	The geese are swimming .
Der berühmte Maler lächelt .	The famous painter is smiling .
Ein kleiner fauler Hund bellt hinter dem Schloss .	A small lazy dog is barking behind the castle .
Der mutige Großvater ruht sich im großen ruhigen Park aus .	The brave grandfather is resting in the big quiet park .
Die Mädchen schreien im Garten .	The girls are shouting in the garden .
Drei Schauspielerinnen weinen auf der Bank .	Three actresses are crying on the bench .
Eine große weiße Ziege grast auf der kleinen grünen Wiese .	A big white goat is grazing in the small green meadow .
Ein junger Koch tanzt hinter dem kleinen neuen Haus .	A young chef is dancing behind the small new house .
Drei Onkel angeln am See .	Three uncles are fishing at the lake .
Ein mutiger Mechaniker schwimmt im See .	A brave mechanic is swimming in the lake .
Ein junger Maler liegt am Strand .	A young painter is lying on the beach .
Die Arbeiter schwimmen im Fluss .	The workers are swimming in the river .
Zwei Köche kochen in der Küche .	Two chefs are cooking in the kitchen .
Diese müden Jungen weinen im Dorf .	These tired boys are crying in the village .
Der mutige junge Polizist liegt auf dem schönen Bett .	The brave young police officer is lying on the beautiful bed .
Ein glücklicher Großvater schwimmt in einem Schwimmbecken .	A happy grandfather is swimming in a swimming pool .
Die freundliche Nachbarin schwimmt .	The friendly neighbor is swimming .
Ein blonder Junge lernt in der neuen Schule .	A blond boy is studying in the new school .
Eine Gans schwimmt im Schwimmbecken .	A goose is swimming in the swimming pool .
Ein Esel schläft hinter dem Stall .	A donkey is sleeping behind the stable .
Ein Matrose schwimmt in einem langen Fluss .	A sailor is swimming in a long river .
Mehrere durstige Jungen weinen hinter dem Museum .	Several thirsty boys are crying behind the museum .
Alle freundlichen Polizisten schreien neben einer Bank .	All the friendly police officers are shouting next to a bench .
Die durstige Ziege grast auf der schönen grünen Wiese .	The thirsty goat is grazing in the beautiful green meadow .
Eine schöne Schauspielerin weint auf dem kleinen Feld .	A beautiful actress is crying in the small field .
Ein glückliches Kind schreit vor dem Bahnhof .	A happy child is shouting in front of the station .
Mehrere hungrige Hunde ruhen sich neben einem Brunnen aus .	Several hungry dogs are resting next to a fountain .
Ein junger Polizist lächelt im Krankenhaus .	A young police officer is smiling in the hospital .
Zwei mutige Hunde bellen neben dem Zaun .	Two brave dogs are barking next to the fence .
Jeder Hund spielt .	Every dog is playing .
Ein neugieriges Mädchen steht unter der breiten Brücke .	A curious girl is standing under the wide bridge .
Ein junger Gärtner lacht hinter dem Haus .	A young gardener is laughing behind the house .
Ein junger Musiker ruht sich draußen aus .	A young musician is resting outside .
Der Onkel sitzt auf der Wiese .	The uncle is sitting in the meadow .
Ein glücklicher Bäcker steht neben der schönen Bank .	A happy baker is standing next to the beautiful bench .
Die schöne traurige Schauspielerin schwimmt im Schwimmbecken .	The beautiful sad actress is swimming in the swimming pool .
Alle müden Arbeiter lächeln vor dem Restaurant .	All the tired workers are smiling in front of the restaurant .
Eine Mutter spaziert auf dem breiten Platz .	A mother is walking in the wide square .
Drei müde Bauern schwimmen wieder .	Three tired farmers are swimming again .
Acht Mädchen weinen neben dem Baum .	Eight girls are crying next to the tree .
Zwei junge Bäcker sitzen neben einem alten Zelt .	Two young bakers are sitting next to an old tent .
Die junge Tänzerin wartet draußen .	The young dancer is waiting outside .
Ein fauler Löwe spielt wieder .	A lazy lion is playing again .
Fünf Touristen liegen an einem schönen Strand .	Five tourists are lying on a beautiful beach .
Der müde junge Hund bellt unter dem Sofa .	The tired young dog is barking under the sofa .
Der traurige Polizist gähnt draußen .	The sad police officer is yawning outside .
Drei Wanderer lächeln im Zimmer .	Three hikers are smiling in the room .
Ein Junge schreit in einem Hof .	A boy is shouting in a courtyard .
Drei Füchse spielen auf der Wiese .	Three foxes are playing in the meadow .
Ein glücklicher Fischer lächelt draußen .	A happy fisherman is smiling outside .
Der junge Koch singt .	The young chef is singing .
Drei Fotografen schwimmen .	Three photographers are swimming .
Der müde Hund bellt vor der weißen Kirche .	The tired dog is barking in front of the white church .
Mehrere Pferde grasen auf dem Hügel .	Several horses are grazing on the hill .
Ein freundlicher Arbeiter liegt auf dem Sofa .	A friendly worker is lying on the sofa .
Zwei Mädchen lernen in einer Schule .	Two girls are studying in a school .
Die schöne Frau schreit wieder .	The beautiful woman is shouting again .
Ein trauriger junger Fischer schwimmt wieder .	A sad young fisherman is swimming again .
Dieser junge Polizist schwimmt draußen .	This young police officer is swimming outside .
Der Esel grast auf dem Hügel .	The donkey is grazing on the hill .
Der hungrige Schüler schwimmt wieder .	The hungry pupil is swimming again .
Sechs hungrige Schweine schlafen draußen .	Six hungry pigs are sleeping outside .
Der junge Feuerwehrmann spaziert in der Stadt .	The young firefighter is walking in the city .
Das durstige Schwein schläft hinter dem Zaun .	The thirsty pig is sleeping behind the fence .
Zwei junge Studenten lernen im modernen Büro .	Two young students are studying in the modern office .
Ein fauler junger Student lernt .	A lazy young student is studying .
Ein Junge gähnt .	A boy is yawning .
Die glückliche Großmutter schläft am Strand .	The happy grandmother is sleeping on the beach .
Ein Großvater angelt am See .	A grandfather is fishing at the lake .
Eine müde Frau weint hinter dem großen modernen Geschäft .	A tired woman is crying behind the big modern shop .
Einige Schüler lernen in der alten Schule .	Some pupils are studying in the old school .
Der braune Hund bellt neben der alten Hütte .	The brown dog is barking next to the old hut .
Ein Wanderer schläft am großen Tisch .	A hiker is sleeping at the big table .
Acht Jungen angeln am schönen See .	Eight boys are fishing at the beautiful lake .
Die Lehrerin tanzt .	The teacher is dancing .
Ein junger Bäcker tanzt in der Bibliothek .	A young baker is dancing in the library .
Der Junge lernt am neuen Tisch .	The boy is studying at the new table .
Sechs Feuerwehrmänner spazieren auf dem Platz .	Six firefighters are walking in the square .
Eine Ärztin singt in einer Schule .	A doctor is singing in a school .
Eine Ente schwimmt in einem See .	A duck is swimming in a lake .
Einige traurige junge Bauern kochen draußen .	Some sad young farmers are cooking outside .
Der müde Hund sitzt hinter der alten Mauer .	The tired dog is sitting behind the old wall .
Einige Löwen spielen im Wald .	Some lions are playing in the forest .
Ein junger Maler singt .	A young painter is singing .
Ein Mädchen ruht sich aus .	A girl is resting .
`;
export const validation = `
Eine traurige Großmutter schläft auf dem grünen Feld .	A sad grandmother is sleeping in the green field .
Ein Student lächelt wieder .	A student is smiling again .
Der junge Fischer gähnt draußen .	The young fisherman is yawning outside .
Der junge Student lernt im Büro .	The young student is studying in the office .
Ein hungriger Schüler spielt auf einer Brücke .	A hungry pupil is playing on a bridge .
Ein glücklicher Fotograf arbeitet draußen .	A happy photographer is working outside .
Ein kleines Baby weint .	A small baby is crying .
Der hungrige Esel grast .	The hungry donkey is grazing .
Die Esel grasen hinter dem Zaun .	The donkeys are grazing behind the fence .
Die junge Nachbarin liegt auf der Bank .	The young neighbor is lying on the bench .
Mehrere Jungen lernen in der alten Bibliothek .	Several boys are studying in the old library .
Vier junge Krankenschwestern spazieren auf einer Brücke .	Four young nurses are walking on a bridge .
Die Polizisten schreien in einem Dorf .	The police officers are shouting in a village .
Das durstige Kind schreit .	The thirsty child is shouting .
Alle Mechaniker schlafen .	All the mechanics are sleeping .
Jeder freundliche Arbeiter wartet neben dem Zaun .	Every friendly worker is waiting next to the fence .
Mehrere große dünne Ziegen grasen .	Several big thin goats are grazing .
Die mutigen Großväter tanzen vor dem Restaurant .	The brave grandfathers are dancing in front of the restaurant .
Die schwarze Ente schwimmt im Fluss .	The black duck is swimming in the river .
Diese stolzen Großmütter arbeiten hinter dem Museum .	These proud grandmothers are working behind the museum .
Der starke Fischer arbeitet hinter dem Museum .	The strong fisherman is working behind the museum .
Ein starkes Mädchen lernt am Tisch .	A strong girl is studying at the table .
Der Matrose gähnt draußen .	The sailor is yawning outside .
Eine Großmutter kocht im neuen Hotel .	A grandmother is cooking in the new hotel .
Alle Mechaniker spazieren im grünen Wald .	All the mechanics are walking in the green forest .
Ein Clown steht in der Schule .	A clown is standing in the school .
Ein stolzer Maler singt im Haus .	A proud painter is singing in the house .
Der junge Matrose wartet .	The young sailor is waiting .
Die Männer angeln am Fluss .	The men are fishing at the river .
Diese müden Köche stehen vor einem Bahnhof .	These tired chefs are standing in front of a station .
Fünf ältere Touristen lachen im Museum .	Five elderly tourists are laughing in the museum .
Der junge Tourist angelt .	The young tourist is fishing .
Vier junge Katzen spielen neben dem Zelt .	Four young cats are playing next to the tent .
Eine ältere Nachbarin sitzt hinter der Mauer .	An elderly neighbor is sitting behind the wall .
Diese kleinen Füchse spielen wieder .	These small foxes are playing again .
Der Kellner wartet .	The waiter is waiting .
Ein blonder Junge spaziert auf dem Platz .	A blond boy is walking in the square .
Einige junge Studenten lernen am alten weißen Tisch .	Some young students are studying at the old white table .
Ein Hund bellt auf einer Wiese .	A dog is barking in a meadow .
Die Schauspielerin tanzt .	The actress is dancing .
Eine mutige Schauspielerin kocht in einem Restaurant .	A brave actress is cooking in a restaurant .
Ein Pferd grast auf dem Feld .	A horse is grazing in the field .
Das kleine Baby weint auf der Bank .	The small baby is crying on the bench .
Eine müde Krankenschwester lacht im Krankenhaus .	A tired nurse is laughing in the hospital .
Sechs Kühe grasen draußen .	Six cows are grazing outside .
Ein hungriges Baby weint draußen .	A hungry baby is crying outside .
Jeder stolze junge Bauer tanzt .	Every proud young farmer is dancing .
Jedes graue Kaninchen schläft im grünen Wald .	Every gray rabbit is sleeping in the green forest .
Das große weiße Lamm ruht sich aus .	The big white lamb is resting .
Eine junge Frau schreit hinter der Hütte .	A young woman is shouting behind the hut .
Drei graue Esel grasen hinter dem Stall .	Three gray donkeys are grazing behind the stable .
Ein junger Wanderer tanzt .	A young hiker is dancing .
Viele junge Mechaniker kochen wieder .	Many young mechanics are cooking again .
Die alte Kuh grast hinter dem dunklen Stall .	The old cow is grazing behind the dark stable .
Die Hunde schlafen .	The dogs are sleeping .
Die elegante Frau arbeitet in der kleinen modernen Schule .	The elegant woman is working in the small modern school .
Eine Ziege grast hinter dem Zaun .	A goat is grazing behind the fence .
Das schöne Mädchen spielt vor dem kleinen modernen Geschäft .	The beautiful girl is playing in front of the small modern shop .
Der mutige junge Koch kocht im teuren Restaurant .	The brave young chef is cooking in the expensive restaurant .
Der Mechaniker spaziert in einem Dorf .	The mechanic is walking in a village .
Eine Krankenschwester tanzt .	A nurse is dancing .
Ein älterer Matrose schreit draußen .	An elderly sailor is shouting outside .
Drei Väter angeln auf der Brücke .	Three fathers are fishing on the bridge .
Diese Kinder weinen vor dem Spiegel .	These children are crying in front of the mirror .
Ein trauriger Matrose erwacht draußen .	A sad sailor is waking up outside .
Eine Mutter liegt auf dem Sofa .	A mother is lying on the sofa .
Der Hund spielt auf der Brücke .	The dog is playing on the bridge .
Vier Arbeiter schreien .	Four workers are shouting .
Drei junge Bauern kochen in einem Restaurant .	Three young farmers are cooking in a restaurant .
Die Babys lächeln im kleinen Büro .	The babies are smiling in the small office .
Ein Bäcker kocht draußen .	A baker is cooking outside .
Eine große Kuh grast wieder .	A big cow is grazing again .
Neun junge Lehrerinnen lachen vor dem Museum .	Nine young teachers are laughing in front of the museum .
Ein Fotograf gähnt draußen .	A photographer is yawning outside .
Eine Lehrerin gähnt wieder .	A teacher is yawning again .
Vier faule Studenten lernen im Büro .	Four lazy students are studying in the office .
Viele Jungen schwimmen .	Many boys are swimming .
Einige neugierige Jungen schwimmen im tiefen Fluss .	Some curious boys are swimming in the deep river .
Ein junger Arbeiter ruht sich wieder aus .	A young worker is resting again .
Das durstige Mädchen liegt auf der Wiese .	The thirsty girl is lying in the meadow .
Eine glückliche junge Tänzerin liegt auf der schönen Bank .	A happy young dancer is lying on the beautiful bench .
Ein trauriger Junge lernt .	A sad boy is studying .
Diese jungen Studenten schlafen vor einem Restaurant .	These young students are sleeping in front of a restaurant .
Der Großvater angelt auf der neuen Brücke .	The grandfather is fishing on the new bridge .
Ein mutiger Onkel angelt am langen Fluss .	A brave uncle is fishing at the long river .
Eine freundliche junge Ärztin arbeitet in einem Garten .	A friendly young doctor is working in a garden .
Diese glückliche Lehrerin arbeitet hinter einer Kirche .	This happy teacher is working behind a church .
Die jungen Kellner gähnen .	The young waiters are yawning .
Der Matrose liegt auf dem schönen Teppich .	The sailor is lying on the beautiful carpet .
Ein Musiker lacht in der berühmten Stadt .	A musician is laughing in the famous city .
Ein kleiner nasser Vogel singt auf einem Feld .	A small wet bird is singing in a field .
Ein fauler Schüler lächelt vor dem großen Restaurant .	A lazy pupil is smiling in front of the big restaurant .
Zwei Köche liegen unter einem großen Baum .	Two chefs are lying under a big tree .
Der junge Matrose steht auf dem Feld .	The young sailor is standing in the field .
Einige Hunde bellen draußen .	Some dogs are barking outside .
Jeder kleine Esel grast auf dem Feld .	Every small donkey is grazing in the field .
Die Bären spielen draußen .	The bears are playing outside .
Einige Frauen schreien vor dem großen Zelt .	Some women are shouting in front of the big tent .
Der mutige Fotograf arbeitet neben einem Zaun .	The brave photographer is working next to a fence .
Zwei freundliche junge Mütter schlafen .	Two friendly young mothers are sleeping .
Der junge Feuerwehrmann schwimmt im kleinen tiefen Schwimmbecken .	The young firefighter is swimming in the small deep swimming pool .
Ein Clown weint im Geschäft .	A clown is crying in the shop .
Dieser Musiker liegt auf dem Teppich .	This musician is lying on the carpet .
Ein Fischer sitzt vor dem Museum .	A fisherman is sitting in front of the museum .
Acht glückliche Lehrerinnen tanzen hinter dem neuen Haus .	Eight happy teachers are dancing behind the new house .
Der Fischer singt wieder .	The fisherman is singing again .
Alle müden Mütter schlafen auf dem Platz .	All the tired mothers are sleeping in the square .
Der junge Student kocht .	The young student is cooking .
Die Schauspielerinnen schlafen auf der Wiese .	The actresses are sleeping in the meadow .
Der müde Fotograf lacht an einem kleinen ruhigen Strand .	The tired photographer is laughing on a small quiet beach .
Die traurige Schauspielerin wartet im dunklen Wald .	The sad actress is waiting in the dark forest .
Eine junge Frau angelt .	A young woman is fishing .
Einige glückliche Wanderer ruhen sich vor dem kleinen neuen Geschäft aus .	Some happy hikers are resting in front of the small new shop .
Drei Frauen schreien draußen .	Three women are shouting outside .
Der weiße Hund spielt neben einem Haus .	The white dog is playing next to a house .
Ein Junge schreit .	A boy is shouting .
Einige traurige Feuerwehrmänner erwachen .	Some sad firefighters are waking up .
Ein mutiger junger Fischer kocht in einem Hotel .	A brave young fisherman is cooking in a hotel .
Fünf kleine hungrige Babys gähnen draußen .	Five small hungry babies are yawning outside .
Einige ältere Frauen kochen in der kleinen Küche .	Some elderly women are cooking in the small kitchen .
Die neugierigen Schüler schreien vor einer Schule .	The curious pupils are shouting in front of a school .
Die müde Nachbarin spaziert im Wald .	The tired neighbor is walking in the forest .
Ein kleines weißes Pferd steht draußen auf .	A small white horse is getting up outside .
Der junge Onkel singt wieder .	The young uncle is singing again .
Ein durstiges Kamel ruht sich aus .	A thirsty camel is resting .
Der junge Mechaniker lacht neben einem Zelt .	The young mechanic is laughing next to a tent .
Der freundliche Junge lernt in der Bibliothek .	The friendly boy is studying in the library .
Einige junge Onkel liegen auf einer Wiese .	Some young uncles are lying in a meadow .
Jeder junge Maler steht im Haus .	Every young painter is standing in the house .
Einige Schüler erwachen .	Some pupils are waking up .
Der glückliche Mechaniker kocht .	The happy mechanic is cooking .
Ein Bauer tanzt vor einem berühmten Brunnen .	A farmer is dancing in front of a famous fountain .
Ein Schüler wartet hinter dem Haus .	A pupil is waiting behind the house .
Die Onkel lächeln wieder .	The uncles are smiling again .
Der junge Fischer schläft draußen .	The young fisherman is sleeping outside .
Diese freundlichen Mütter tanzen unter dem alten Baum .	These friendly mothers are dancing under the old tree .
Der traurige Fischer steht in einem Geschäft .	The sad fisherman is standing in a shop .
Ein blonder Junge spaziert im Garten .	A blond boy is walking in the garden .
Ein schönes schmutziges Mädchen singt .	A beautiful dirty girl is singing .
Die junge Krankenschwester singt im kleinen Hof .	The young nurse is singing in the small courtyard .
Acht alte Katzen spielen neben dem gelben Zelt .	Eight old cats are playing next to the yellow tent .
Viele Touristen spazieren im Dorf .	Many tourists are walking in the village .
Der müde Mann singt vor dem Restaurant .	The tired man is singing in front of the restaurant .
Viele Krankenschwestern schlafen neben der Bank .	Many nurses are sleeping next to the bench .
Jeder freundliche Clown schläft auf dem Stuhl .	Every friendly clown is sleeping on the chair .
Viele Musiker sitzen auf dem Bett .	Many musicians are sitting on the bed .
Mehrere Großmütter stehen hinter einem Museum .	Several grandmothers are standing behind a museum .
Ein fauler Esel schläft auf dem Hügel .	A lazy donkey is sleeping on the hill .
Eine berühmte Tänzerin schwimmt .	A famous dancer is swimming .
Die Fischer tanzen vor dem alten Bahnhof .	The fishermen are dancing in front of the old station .
Die Mutter arbeitet vor einer Kirche .	The mother is working in front of a church .
Der Junge schreit auf einer Wiese .	The boy is shouting in a meadow .
Ein junger Clown steht in der Schule .	A young clown is standing in the school .
Ein Onkel gähnt wieder .	An uncle is yawning again .
Der junge Fotograf tanzt draußen .	The young photographer is dancing outside .
Eine elegante Schauspielerin schwimmt im großen Fluss .	An elegant actress is swimming in the big river .
Ein Maler kocht wieder .	A painter is cooking again .
Der freundliche Junge lernt in der Schule .	The friendly boy is studying in the school .
Der müde junge Student lernt im Büro .	The tired young student is studying in the office .
Ein Mädchen weint neben der Statue .	A girl is crying next to the statue .
Eine Mutter spaziert in der Stadt .	A mother is walking in the city .
Der traurige junge Matrose liegt auf dem Bett .	The sad young sailor is lying on the bed .
Ein Fotograf arbeitet neben dem Zelt .	A photographer is working next to the tent .
Ein Bauer ruht sich hinter der Schule aus .	A farmer is resting behind the school .
Der Onkel tanzt vor dem Geschäft .	The uncle is dancing in front of the shop .
Zwei traurige Matrosen sitzen im grünen Wald .	Two sad sailors are sitting in the green forest .
Das Pferd grast hinter einem Stall .	The horse is grazing behind a stable .
Die Krankenschwestern sitzen hinter einem berühmten Schloss .	The nurses are sitting behind a famous castle .
Eine mutige Krankenschwester schwimmt im kleinen Fluss .	A brave nurse is swimming in the small river .
Der junge Tourist erwacht wieder .	The young tourist is waking up again .
Jede schöne Schauspielerin schwimmt im See .	Every beautiful actress is swimming in the lake .
Eine junge Nachbarin singt .	A young neighbor is singing .
Der neugierige Schüler schläft hinter dem kleinen modernen Haus .	The curious pupil is sleeping behind the small modern house .
Der mutige Großvater singt im neuen Büro .	The brave grandfather is singing in the new office .
Die Ziege grast wieder .	The goat is grazing again .
Die jungen Studenten lachen zusammen .	The young students are laughing together .
Diese jungen Lehrerinnen singen neben dem grauen Turm .	These young teachers are singing next to the gray tower .
Ein Schüler lacht hinter dem schönen Baum .	A pupil is laughing behind the beautiful tree .
Diese alten Hunde bellen wieder .	These old dogs are barking again .
Der Junge spielt wieder .	The boy is playing again .
Der glückliche junge Student lernt .	The happy young student is studying .
Die starken jungen Matrosen tanzen vor dem alten Geschäft .	The strong young sailors are dancing in front of the old shop .
Ein Arbeiter wartet im großen ruhigen Dorf .	A worker is waiting in the big quiet village .
Diese Mütter liegen auf dem blauen Teppich .	These mothers are lying on the blue carpet .
Ein junger Koch liegt auf dem Bett .	A young chef is lying on the bed .
Sieben freundliche Mechaniker schwimmen .	Seven friendly mechanics are swimming .
Einige starke junge Bauern arbeiten vor dem Krankenhaus .	Some strong young farmers are working in front of the hospital .
Der junge Student arbeitet vor dem Hotel .	The young student is working in front of the hotel .
Dieses Mädchen lernt in der Schule .	This girl is studying in the school .
Das Mädchen spielt im Garten .	The girl is playing in the garden .
Der berühmte junge Maler wartet neben dem Haus .	The famous young painter is waiting next to the house .
Die Männer weinen .	The men are crying .
Drei glückliche junge Maler stehen auf der Straße .	Three happy young painters are standing on the street .
Ein Gärtner kocht in der Küche .	A gardener is cooking in the kitchen .
Ein Schüler spielt hinter dem modernen Geschäft .	A pupil is playing behind the modern shop .
Ein freundlicher junger Matrose lächelt .	A friendly young sailor is smiling .
Ein Junge lächelt vor dem berühmten alten Museum .	A boy is smiling in front of the famous old museum .
Eine Schauspielerin arbeitet hinter der Kirche .	An actress is working behind the church .
Ein Student lernt wieder .	A student is studying again .
Ein mutiger Mechaniker singt wieder .	A brave mechanic is singing again .
`;
