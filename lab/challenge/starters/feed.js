// A feed in Node without packages, to begin with. It passes stage 1. It knows no unfollow and no
// deletion (stage 2), and keeps all in memory, so that it has nothing after a kill (stage 4).
const { readFileSync } = require("node:fs");
const { createServer } = require("node:http");

const rows = (name) =>
  readFileSync(process.env[name], "utf8").trim().split(/\r?\n/).slice(1).map((line) => line.split(","));
const personOf = new Map(rows("TOKENS").map(([id, token]) => [token, Number(id)]));
const readers = new Map(), timelines = new Map(), posts = [];
for (const id of personOf.values()) {
  readers.set(id, []);
  timelines.set(id, []);
}
for (const [author, reader] of rows("EDGES")) readers.get(Number(author)).push(Number(reader));

function publish(author) {
  const post = { id: posts.length + 1, author, created_at: "" };
  posts.push(post);
  for (const owner of [author, ...readers.get(author)]) timelines.get(owner).push(post);
  return post;
}

function page(owner, before, limit) {
  const found = timelines.get(owner).filter((post) => post.id < before).reverse();
  return { posts: found.slice(0, limit), next: found.length > limit ? "more" : null };
}

createServer(async (request, response) => {
  for await (const _ of request); // its body
  const url = new URL(request.url, "http://localhost");
  const person = personOf.get((request.headers.authorization ?? "").replace("Bearer ", ""));
  const answer = (status, content) => {
    const text = JSON.stringify(content);
    response.writeHead(status, { "Content-Length": Buffer.byteLength(text) }).end(text);
  };
  if (url.pathname === "/readyz") return answer(200, {});
  if (!person) return answer(401, {});
  if (request.method === "POST") return answer(201, publish(person));
  if (request.method === "DELETE") return answer(501, { detail: "stage 2 asks for it" });
  const before = Number(url.searchParams.get("before") ?? Infinity);
  answer(200, page(person, before, Number(url.searchParams.get("limit") ?? 20)));
}).listen(Number(process.env.PORT), "127.0.0.1");
