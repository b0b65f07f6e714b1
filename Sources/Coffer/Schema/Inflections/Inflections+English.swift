extension Inflections {
    /// The English rules, to the extent that table names need them.
    ///
    /// The keys of associations, and so the names of properties, depend on the result for each word. Mistakes
    /// in rare words are therefore kept, because programs that use such a word rely on the current result.
    static let english: Inflections = {
        var inflections = Inflections(nouns: .english)
        inflections.irregularSuffix("person", "people")
        inflections.irregularSuffix("child", "children")
        inflections.irregularSuffix("foot", "feet")
        inflections.irregularSuffix("man", "men")
        // Without this line, "specimen" would match the rule for "men".
        inflections.irregularSuffix("specimen", "specimens")
        // Mass nouns, nouns that have only a plural or are collective, and nouns with identical forms.
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

    /// Adds the regular endings of English: -s, -es after a sibilant, and -ies for -y after a consonant.
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
        // The u of "qu" does not count as a vowel.
        add("quy", "quies")
        // Nouns in -o form their plural with -s or -es. The plural -oes determines the singular; the singular
        // does not determine the plural.
        addPlural("oes", becomes: "o")
        add("o", "oes", stems: ["buffal", "her", "tomat"])
        // Words that are too short to have an ending.
        for letters in ["y", "fe", "ie", "ve"] { add(letters, letters + "s", areWords: true) }
    }

    /// Adds nouns whose f becomes v in the plural, and nouns in -ve, whose plural only looks the same.
    private mutating func addVoicedEndings() {
        add("fe", "ves")
        add("ffe", "ffes")
        // A word in -fves is not the plural of a noun in -ffe.
        add("fve", "fves")
        add("f", "ves", stems: ["l", "r", "lea"])
        add("ve", "ves", stems: ["hi", "ti", "mo"])
    }

    /// Adds the plurals of words from Latin and Greek.
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

    /// Adds words whose spelling does not show their form.
    private mutating func addExceptions() {
        // Singulars in -s.
        add("", "es", stems: ["status", "focus", "bus", "alias", "bias", "canvas", "gas", "lens"])
        add("news", "news")
        add("series", "series")
        // Nouns in -e, which the plural keeps before its s.
        for noun in ["database", "movie", "zombie", "shoe"] { add(noun, noun + "s") }
        add("quiz", "quizzes")
        add("ox", "oxen", areWords: true)
        // Whole words only: "blouse" and "dormouse" would match as endings.
        add("ouse", "ice", stems: ["m", "l"], areWords: true)
    }
}
