// A feed in Go without packages, to begin with. It passes stage 1; it keeps all in memory, so that
// stage 4 (kill -9) finds it empty.
package main

import (
	"encoding/csv"
	"encoding/json"
	"log"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
)

type post struct {
	ID        int    `json:"id"`
	Author    int    `json:"author"`
	CreatedAt string `json:"created_at"`
}

type page struct {
	Posts []post  `json:"posts"`
	Next  *string `json:"next"`
}

var (
	lock      sync.Mutex
	posts     int
	personOf  = map[string]int{}
	readers   = map[int][]int{}
	timelines = map[int][]post{}
)

func rows(name string) [][]string {
	file, err := os.Open(os.Getenv(name))
	if err != nil {
		log.Fatal(err)
	}
	found, err := csv.NewReader(file).ReadAll()
	if err != nil {
		log.Fatal(err)
	}
	return found[1:]
}

func number(text string, otherwise int) int {
	if found, err := strconv.Atoi(text); err == nil {
		return found
	}
	return otherwise
}

func publish(author int) post {
	posts++
	made := post{ID: posts, Author: author}
	for _, owner := range append([]int{author}, readers[author]...) {
		timelines[owner] = append(timelines[owner], made)
	}
	return made
}

func read(owner, before, limit int) page {
	found, more := page{Posts: []post{}}, "more"
	for n := len(timelines[owner]) - 1; n >= 0; n-- {
		if one := timelines[owner][n]; one.ID < before {
			if len(found.Posts) == limit {
				found.Next = &more
				break
			}
			found.Posts = append(found.Posts, one)
		}
	}
	return found
}

func serve(w http.ResponseWriter, r *http.Request) {
	lock.Lock()
	defer lock.Unlock()
	answer := func(status int, content any) {
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(content)
	}
	person := personOf[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	switch query := r.URL.Query(); {
	case r.URL.Path == "/readyz":
		answer(200, map[string]string{})
	case person == 0:
		answer(401, map[string]string{})
	case r.Method == "POST":
		answer(201, publish(person))
	case r.Method == "DELETE":
		answer(501, map[string]string{"detail": "stage 2 asks for it"})
	default:
		answer(200, read(person, number(query.Get("before"), math.MaxInt), number(query.Get("limit"), 20)))
	}
}

func main() {
	for _, row := range rows("TOKENS") {
		personOf[row[1]] = number(row[0], 0)
	}
	for _, row := range rows("EDGES") {
		author := number(row[0], 0)
		readers[author] = append(readers[author], number(row[1], 0))
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(serve)))
}
