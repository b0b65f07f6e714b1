import Coffer
import Testing

@Suite("Singular and plural")
struct InflectionTests {
    /// Words with their plurals and singulars according to GRDB 7.10, including its mistakes, because
    /// property names depend on them.
    private static let words = """
        player,players,player team,teams,team country,countries,country person,people,person \
        people,people,person mouse,mice,mouse
        mice,mice,mouse box,boxes,box boxes,boxes,box hero,heroes,hero photo,photos,photo piano,pianos,piano \
        child,children,child
        man,men,man woman,women,woman ox,oxen,ox bus,buses,bus status,statuses,status alias,aliases,alias \
        octopus,octopi,octopus
        virus,viri,virus datum,data,datum data,data,datum medium,media,medium index,indices,index \
        matrix,matrices,matrix
        vertex,vertices,vertex quiz,quizzes,quiz news,news,news information,information,information \
        equipment,equipment,equipment
        rice,rice,rice species,species,species series,series,series fish,fish,fish sheep,sheep,sheep \
        jeans,jeans,jeans
        police,police,police movie,movies,movie shoe,shoes,shoe move,moves,move day,days,day boy,boys,boy \
        city,cities,city
        wife,wives,wife life,lives,life leaf,leaves,leaf knife,knives,knife wolf,wolves,wolf \
        half,halves,half dwarf,dwarves,dwarf
        roof,roofs,roof foot,feet,foot feet,feet,foot tooth,tooths,tooth goose,gooses,goose \
        criterion,criterions,criterion
        phenomenon,phenomenons,phenomenon analysis,analyses,analysis crisis,crises,crisis axis,axes,axis \
        basis,bases,basis
        thesis,theses,thesis diagnosis,diagnoses,diagnosis bias,biases,bias focus,focuses,focus \
        gas,gases,gas lens,lenses,lens
        lineItem,lineItems,lineItem postalAddress,postalAddresses,postalAddress address,addresses,address \
        class,classes,class
        dish,dishes,dish church,churches,church buzz,buzzs,buzz tomato,tomatoes,tomato potato,potatos,potato \
        echo,echos,echo
        zombie,zombies,zombie cookie,cookies,cookie bonus,bonus,bonu campus,campus,campu \
        database,databases,database house,houses,house
        horse,horses,horse cheese,cheeses,cheese base,bases,base case,cases,case cause,causes,cause \
        course,courses,course
        HTTPRequest,HTTPRequests,HTTPRequest httpRequest,httpRequests,httpRequest \
        line_item,line_items,line_item s,s, S,s, 1,1,1
        book1,books1,book1 books1,books1,book1 book2,books2,book2 café,cafés,café money,money,money \
        salesperson,salespeople,salesperson
        salespeople,salespeople,salesperson cow,cows,cow kine,kines,kine sex,sexes,sex testis,testes,testis \
        buffalo,buffaloes,buffalo
        stimulus,stimulus,stimulu cactus,cactus,cactu nucleus,nucleus,nucleu bureau,bureaus,bureau \
        adieu,adieus,adieu
        archive,archives,archive slave,slaves,slave elf,elves,elf hive,hives,hive query,queries,query \
        soliloquy,soliloquies,soliloquy
        quay,quays,quay fezz,fezzs,fezz perspective,perspectives,perspective comment,comments,comment
        node_child,node_children,node_child email,emails,email todo,todos,todo video,videos,video \
        radio,radios,radio
        studio,studios,studio zero,zeros,zero veto,vetos,veto cargo,cargos,cargo volcano,volcanos,volcano \
        halo,halos,halo
        rhino,rhinos,rhino memo,memos,memo logo,logos,logo solo,solos,solo euro,euros,euro kilo,kilos,kilo \
        dynamo,dynamos,dynamo
        embryo,embryos,embryo cello,cellos,cello soprano,sopranos,soprano thief,thiefs,thief \
        belief,beliefs,belief chief,chiefs,chief
        proof,proofs,proof safe,saves,safe belongsTo,belongsTos,belongsTo prize,prizes,prize size,sizes,size \
        ies,ies,ie tie,ties,tie
        pie,pies,pie lie,lies,lie movies,movies,movie cookies,cookies,cooky ties,ties,ty \
        statuses,statuses,status
        addresses,addresses,address aliases,aliases,alias quizzes,quizzes,quiz matrices,matrices,matrix \
        vertices,vertices,vertex
        indices,indices,index oxen,oxen,ox analyses,analyses,analysis databases,databases,database \
        heroes,heroes,hero
        photos,photos,photo children,children,child men,men,man women,women,woman wives,wives,wife \
        lives,lives,life shoes,shoes,shoe
        houses,houses,house bases,bases,basis axes,axes,axis octopi,octopi,octopus viri,viri,virus \
        crises,crises,crisis
        testes,testes,testis sexes,sexes,sex moves,moves,move media,media,medium criteria,criteria,criterium \
        buses,buses,bus
        biases,biases,bias focuses,focuses,focus gases,gases,gas lenses,lenses,lens bonuses,bonuses,bonuse \
        campuses,campuses,campuse
        alumnus,alumnus,alumnu alumni,alumnis,alumni syllabus,syllabuses,syllabus fungus,fungus,fungu \
        radius,radius,radiu
        genius,genius,geniu genus,genus,genu corpus,corpus,corpu opus,opus,opu human,humen,human \
        german,germen,german
        leaves,leaves,leaf wolves,wolves,wolf dwarves,dwarves,dwarf halves,halves,half Person,People,Person \
        PERSON,People,Person
        People,People,Person dataMouse,dataMice,dataMouse lice,lice,louse louse,lice,louse \
        blouse,blouses,blouse
        box2box,box2boxes,box2box test1,tests1,test1 v2,vs2,v2 lineFoot,lineFeet,lineFoot \
        barefoot,barefeet,barefoot Mouse,Mice,Mouse
        dormouse,dormouses,dormouse mouseHouse,mouseHouses,mouseHouse Ax,Axes,Ax ax,axes,ax hives,hives,hive \
        archives,archives,archive
        natives,natives,native drives,drives,drife olives,olives,olife gloves,gloves,glofe caves,caves,cafe \
        curves,curves,curf
        slaves,slaves,slafe shelves,shelves,shelf selves,selves,self calves,calves,calf loaves,loaves,loafe \
        thieves,thieves,thiefe
        glass,glasses,glass pass,passes,pass atlas,atlas,atla canvas,canvases,canvas chaos,chaos,chao \
        ethos,ethos,etho iris,iris,iri
        tennis,tennis,tenni wireless,wirelesses,wireless process,processes,process success,successes,success
        business,businesses,business dress,dresses,dress menu,menus,menu schema,schemas,schema \
        schemas,schemas,schema
        agenda,agendas,agenda quota,quota,quotum pizza,pizzas,pizza idea,ideas,idea area,areas,area \
        camera,cameras,camera
        formula,formulas,formula larva,larvas,larva beta,beta,betum delta,delta,deltum visa,visas,visa \
        villa,villas,villa
        stadium,stadia,stadium album,albums,album forum,forums,forum museum,museums,museum \
        bacterium,bacteria,bacterium
        premium,premia,premium stratum,strata,stratum curriculum,curriculums,curriculum \
        memorandum,memorandums,memorandum
        militia,militia,militium loaf,loafs,loaf sheaf,sheafs,sheaf chef,chefs,chef reef,reefs,reef \
        scarf,scarves,scarf
        wharf,wharves,wharf serf,serves,serf shelf,shelves,shelf self,selves,self calf,calves,calf \
        giraffe,giraffes,giraffe
        cafe,caves,cafe strife,strives,strife carafe,caraves,carafe cliff,cliffs,cliff staff,staffs,staff \
        foxes,foxes,fox
        taxes,taxes,tax axe,axes,axe tax,taxes,tax fax,faxes,fax watches,watches,watch dishes,dishes,dish \
        glasses,glasses,glass
        moustache,moustaches,moustache moustaches,moustaches,moustach cache,caches,cache caches,caches,cach \
        niche,niches,niche
        wishes,wishes,wish witnesses,witnesses,witness witness,witnesses,witness canoe,canoes,canoe \
        canoes,canoes,cano toes,toes,to
        potatoes,potatoes,potato vetoes,vetoes,veto tomatoes,tomatoes,tomato echoes,echoes,echo \
        horseshoe,horseshoes,horseshoe
        horseshoes,horseshoes,horseshoe babies,babies,baby skies,skies,sky sky,skies,sky \
        monkeys,monkeys,monkey monkey,monkeys,monkey
        buoy,buoys,buoy keys,keys,key key,keys,key obloquies,obloquies,obloquy parties,parties,party \
        dies,dies,dy
        zombies,zombies,zombie selfie,selfies,selfie selfies,selfies,selfy brownie,brownies,brownie \
        brownies,brownies,browny
        calorie,calories,calorie calories,calories,calory mediums,mediums,medium teeth,teeths,teeth \
        geese,geeses,geese oxes,oxes,ox
        bu,bus,bu busses,busses,buss abuses,abuses,abus abuse,abuses,abuse excuse,excuses,excuse \
        excuses,excuses,excuse
        fuses,fuses,fuse fuse,fuses,fuse causes,causes,cause viruses,viruses,viruse \
        octopuses,octopuses,octopuse oasis,oases,oasi
        oases,oases,oase emphasis,emphases,emphasi emphases,emphases,emphase hypothesis,hypotheses,hypothesis
        hypotheses,hypotheses,hypothesis parenthesis,parentheses,parenthesis \
        parentheses,parentheses,parenthesis
        synopsis,synopses,synopsis synopses,synopses,synopsis prognosis,prognoses,prognosis taxis,taxis,taxi \
        taxi,taxis,taxi
        praxis,praxis,praxi latest,latests,latest contest,contests,contest contests,contests,contest \
        unisex,unisexes,unisex
        journey,journeys,journey equipmentItem,equipmentItems,equipmentItem \
        lineInformation,lineInformation,lineInformation
        price,prices,price prices,prices,price avarice,avarices,avarice starfish,starfishes,starfish \
        miniseries,miniseries,miniseries
        subspecies,subspecies,subspecy jean,jeans,jean renews,renews,renews sinews,sinews,sinews \
        remove,removes,remove
        removes,removes,remove postman,postmen,postman firewoman,firewomen,firewoman \
        childhood,childhoods,childhood
        grandchild,grandchildren,grandchild grandchildren,grandchildren,grandchild personal,personals,personal
        salesPerson,salesPeople,salesPerson statu,status,statu aliase,aliases,aliase gasses,gasses,gass \
        Gas,Gases,Gas foci,focis,foci
        vertexes,vertexes,vertex indexes,indexes,index matrixes,matrixes,matrix appendix,appendixes,appendix
        appendices,appendices,appendice suffix,suffixes,suffix prefix,prefixes,prefix helix,helixes,helix \
        codex,codexes,codex
        HEROES,HEROEs,HERO Child,Children,Child CHILD,Children,Child child1,children1,child1 \
        person2,people2,person2
        people2,people2,person2 mice3,mice3,mouse3 über,übers,über naïve,naïves,naïve \
        player_1,player_1,player_1 1st,1sts,1st
        Ox,Oxen,Ox foxen,foxens,foxen whiz,whizs,whiz waltz,waltzs,waltz topaz,topazs,topaz \
        quartz,quartzs,quartz bosses,bosses,boss
        boss,bosses,boss a,as,a as,as,a is,is,i us,us,u ss,sses,ss es,es,e oes,oes,o
        """

    @Test("words are inflected as GRDB inflects them")
    func words() {
        let inflections = Inflections.default
        for line in Self.words.split(whereSeparator: \.isWhitespace) {
            let forms = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            #expect(inflections.pluralize(forms[0]) == forms[1], "plural of \(forms[0])")
            #expect(inflections.singularize(forms[0]) == forms[2], "singular of \(forms[0])")
        }
    }

    @Test("added rules take precedence over existing ones")
    func customRules() {
        var inflections = Inflections.default
        inflections.irregularSuffix("octopus", "octopuses")
        inflections.irregularSuffix("goose", "geese")
        inflections.irregularSuffix("cow", "kine")
        inflections.uncountableWords(["foo", "Bar"])
        inflections.plural("um$", "ums")
        inflections.singular("xen$", "x")
        for (word, plural, singular) in [
            ("octopus", "octopuses", "octopus"), ("octopuses", "octopuses", "octopus"),
            ("Octopus", "Octopuses", "Octopus"),
            ("foo", "foo", "foo"), ("Foo", "Foo", "Foo"), ("foos", "foos", "foo"), ("bar", "bar", "bar"),
            ("bars", "bars", "bar"),
            ("fooBar", "fooBar", "fooBar"), ("bigfoo", "bigfoos", "bigfoo"), ("goose", "geese", "goose"),
            ("geese", "geese", "goose"),
            ("mongoose", "mongeese", "mongoose"), ("cow", "kine", "cow"), ("kine", "kine", "cow"),
            ("Cow", "Kine", "Cow"),
            ("KINE", "Kine", "Cow"), ("stadium", "stadiums", "stadium"), ("foxen", "foxens", "fox"),
        ] {
            #expect(inflections.pluralize(word) == plural)
            #expect(inflections.singularize(word) == singular)
        }
    }

    @Test("without rules, words stay unchanged")
    func noRules() {
        #expect(Inflections().pluralize("player") == "player")
        #expect(Inflections().singularize("players") == "players")
    }

    @Test("the default rules can be replaced")
    func defaultRules() {
        // Other tests run at the same time, so this changes the rules only for a word that none of them uses.
        var inflections = Inflections.default
        inflections.irregularSuffix("flibbertigibbet", "flibbertigibbetim")
        Inflections.default = inflections
        #expect(Inflections.default.pluralize("flibbertigibbet") == "flibbertigibbetim")
    }
}
