extension Inflections {
    /// The rules of English, which are those of GRDB: the keys of associations, and so the names of properties, depend on each of them.
    static let english: Inflections = {
        var inflections = Inflections()
        inflections.addEnglishPlurals()
        inflections.addEnglishSingulars()
        inflections.irregularSuffix("child", "children")
        inflections.irregularSuffix("foot", "feet")
        inflections.irregularSuffix("leaf", "leaves")
        inflections.irregularSuffix("man", "men")
        inflections.irregularSuffix("move", "moves")
        inflections.irregularSuffix("person", "people")
        inflections.irregularSuffix("sex", "sexes")
        inflections.irregularSuffix("specimen", "specimens")
        inflections.irregularSuffix("zombie", "zombies")
        inflections.uncountableWords([
            "advice", "corps", "dice", "equipment", "fish", "information", "jeans", "kudos", "money", "news", "offspring", "police", "rice",
            "series", "sheep", "species",
        ])
        return inflections
    }()

    /// The last rule that matches wins.
    private mutating func addEnglishPlurals() {
        plural("$", "s")
        plural("s$", "s")
        plural("(x|ch|sh|ss)$", "$1es")
        plural("(alias|bias|bus|canvas|focus|gas|lens|status)$", "$1es")
        plural("(buffal|her|tomat)o$", "$1oes")
        plural("([^aeiouy]|qu)y$", "$1ies")
        plural("([^f])fe$", "$1ves")
        plural("([lr])f$", "$1ves")
        plural("([ti])(um|a)$", "$1a")
        plural("(octop|vir)(us|i)$", "$1i")
        plural("sis$", "ses")
        plural("^(ax|test)is$", "$1es")
        plural("(matr|vert|ind)(ix|ex)$", "$1ices")
        plural("(quiz)$", "$1zes")
        plural("^(ox)(en)?$", "$1en")
        // Whole words: neither blouses nor dormice.
        plural("^([ml])(ouse|ice)$", "$1ice")
    }

    /// The last rule that matches wins.
    private mutating func addEnglishSingulars() {
        singular("s$", "")
        singular("(ss)$", "$1")
        singular("(n)ews$", "$1ews")
        singular("(x|ch|sh|ss)es$", "$1")
        singular("(o)es$", "$1")
        singular("(shoe)s$", "$1")
        singular("(alias|bias|bus|canvas|focus|gas|lens|status)(es)?$", "$1")
        singular("([^aeiouy]|qu)ies$", "$1y")
        singular("(movie|series)s?$", "$1")
        singular("([^f])ves$", "$1fe")
        singular("([lr])ves$", "$1f")
        singular("((hi|ti)ve)s$", "$1")
        singular("([ti])a$", "$1um")
        singular("(octop|vir)(us|i)$", "$1us")
        singular("(analy|ba|diagno|parenthe|progno|synop|the)s[ei]s$", "$1sis")
        singular("(cris|test)[ei]s$", "$1is")
        singular("^(a)x[ei]s$", "$1xis")
        singular("(database)s$", "$1")
        singular("(matr)ices$", "$1ix")
        singular("(vert|ind)ices$", "$1ex")
        singular("(quiz)zes$", "$1")
        singular("^(ox)en$", "$1")
        singular("^([ml])(ouse|ice)$", "$1ouse")
    }
}
