extension Inflections {
    /// The rules of English, as far as names of tables need them.
    ///
    /// The keys of associations, and so the names of properties, depend on the answer for each word. Mistakes
    /// in rare words are therefore kept: programs that meet one have worked around it.
    static let english: Inflections = {
        var inflections = Inflections(nouns: .english)
        inflections.irregularSuffix("person", "people")
        inflections.irregularSuffix("child", "children")
        inflections.irregularSuffix("foot", "feet")
        inflections.irregularSuffix("man", "men")
        // It does not end with "men" in this sense.
        inflections.irregularSuffix("specimen", "specimens")
        // What cannot be counted, what comes in pairs or crowds only, and what is the same in both numbers.
        inflections.uncountableWords(["money", "rice", "equipment", "information", "advice", "kudos", "news"])
        inflections.uncountableWords(["jeans", "police", "dice", "corps", "offspring"])
        inflections.uncountableWords(["sheep", "fish", "species", "series"])
        return inflections
    }()
}

extension NounEndings {
    /// The endings of English nouns.
    static let english: NounEndings = {
        var nouns = NounEndings()
        nouns.addRegularEndings()
        nouns.addVoicedEndings()
        nouns.addLatinEndings()
        nouns.addExceptions()
        return nouns
    }()

    /// The endings that the grammar of English makes regular: -s, -es behind a sibilant, and -ies for -y
    /// behind a consonant.
    private mutating func addRegularEndings() {
        addSingular("", becomes: "s")
        addSingular("s", becomes: "s")
        addPlural("s", becomes: "")
        add("", "es", stems: ["ch", "sh", "ss", "x"])
        add("y", "ies")
        for vowel in ["a", "e", "i", "o", "u", "y"] {
            add(vowel + "y", vowel + "ys")
            add(vowel + "ie", vowel + "ies")
        }
        // The u of qu is none of the vowels.
        add("quy", "quies")
        // Nouns in -o take one of two plurals, and only one of them says which noun it was.
        addPlural("oes", becomes: "o")
        add("o", "oes", stems: ["buffal", "her", "tomat"])
        // Too short to have an ending.
        for letters in ["y", "fe", "ie", "ve"] { add(letters, letters + "s", areWords: true) }
    }

    /// An f whose sound becomes that of v, and nouns in -ve, which only seem to have such a plural.
    private mutating func addVoicedEndings() {
        add("fe", "ves")
        add("ffe", "ffes")
        // A word that ends so is no plural of one in -ffe.
        add("fve", "fves")
        add("f", "ves", stems: ["l", "r", "lea"])
        add("ve", "ves", stems: ["hi", "ti", "mo"])
    }

    /// Plurals that came with words from Latin and Greek.
    private mutating func addLatinEndings() {
        add("um", "a", stems: ["i", "t"])
        add("us", "i", stems: ["octop", "vir"])
        add("ex", "ices", stems: ["ind", "vert"])
        add("ix", "ices", stems: ["matr"])
        addSingular("sis", becomes: "ses")
        add(
            "is", "es",
            stems: ["cris", "test", "thes", "parenthes", "bas", "analys", "synops", "prognos", "diagnos"])
        add("axis", "axes", areWords: true)
    }

    /// Words whose letters do not say what they are.
    private mutating func addExceptions() {
        // In -s, and in the singular.
        add("", "es", stems: ["status", "focus", "bus", "alias", "bias", "canvas", "gas", "lens"])
        add("news", "news")
        add("series", "series")
        // In -e, before the s of the plural.
        for noun in ["database", "movie", "zombie", "shoe"] { add(noun, noun + "s") }
        add("quiz", "quizzes")
        add("ox", "oxen", areWords: true)
        // Neither blouses nor dormice.
        add("ouse", "ice", stems: ["m", "l"], areWords: true)
    }
}
