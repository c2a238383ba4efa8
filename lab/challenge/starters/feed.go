// A feed in Go without packages, to begin with. It passes stage 1. It knows no unfollow and no
// deletion (stage 2), and keeps all in memory, so that it has nothing after a kill (stage 4).
package main

import (
	"encoding/json"
	"log"
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

var (
	lock      sync.Mutex
	posts     int
	personOf  = map[string]int{}
	readers   = map[int][]int{}
	timelines = map[int][]post{}
)

func rows(name string, use func(id int, other string)) {
	file, err := os.ReadFile(os.Getenv(name))
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range strings.Fields(string(file))[1:] {
		id, other, _ := strings.Cut(row, ",")
		use(number(id), other)
	}
}

func number(text string) int {
	found, _ := strconv.Atoi(text)
	return found
}

func publish(author int) post {
	posts++
	made := post{ID: posts, Author: author}
	for _, owner := range append([]int{author}, readers[author]...) {
		timelines[owner] = append(timelines[owner], made)
	}
	return made
}

func page(owner, before, limit int) map[string]any {
	found, timeline := []post{}, timelines[owner]
	if limit == 0 {
		limit = 20
	}
	for n := len(timeline) - 1; n >= 0; n-- {
		if len(found) == limit {
			return map[string]any{"posts": found, "next": "more"}
		}
		if before == 0 || timeline[n].ID < before {
			found = append(found, timeline[n])
		}
	}
	return map[string]any{"posts": found, "next": nil}
}

func serve(w http.ResponseWriter, r *http.Request) {
	lock.Lock()
	defer lock.Unlock()
	status, content := 200, any(map[string]string{})
	person := personOf[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	switch query := r.URL.Query(); {
	case r.URL.Path == "/readyz":
	case person == 0:
		status = 401
	case r.Method == "POST":
		status, content = 201, publish(person)
	case r.Method == "DELETE":
		status = 501 // stage 2 asks for it
	default:
		content = page(person, number(query.Get("before")), number(query.Get("limit")))
	}
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(content)
}

func main() {
	rows("TOKENS", func(id int, token string) { personOf[token] = id })
	rows("EDGES", func(id int, reader string) { readers[id] = append(readers[id], number(reader)) })
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(serve)))
}
