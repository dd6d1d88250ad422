// What programs on Bun do: files are Bun.file, and the service is Bun.serve.
import { bytes, equal, failure, sha256 } from "./checking.js";

// A file's bytes as the service got them, with the length that was announced.
async function arrived(received, id, content) {
  const [{ file, length, chunked }] = await received(id);
  equal([file.bytes, file.sha256], [content.byteLength, await sha256(content)]);
  equal([Number(length) > content.byteLength, chunked], [true, false]);
  return file.name;
}

async function contentOf(path) {
  return new Uint8Array(await Bun.file(path).arrayBuffer());
}

// A file of the check's own, as large as a request may be: 150 MB.
async function withLargeFile(use) {
  const path = `${process.env.TMPDIR ?? "/tmp"}/tunerank-${process.pid}.jsonl`;
  try {
    await Bun.write(path, bytes(1024 * 1024));
    await use(path);
  } finally {
    await Bun.file(path).delete();
  }
}

/** Checks that only Bun has. */
export const idioms = {
  async "uploads Bun.file"({ client, received, id, place }) {
    const told = [];
    const onProgress = (progress) => told.push(progress);
    await client.datasets.upload(id("bunfile"), Bun.file(place.path), { onProgress });
    const content = await contentOf(place.path);
    equal(await arrived(received, id("bunfile"), content), "train.jsonl");
    const { byteLength } = content;
    equal(told.at(-1), { sentBytes: byteLength, totalBytes: byteLength });
  },
  async "uploads a slice of Bun.file"({ client, received, id, place }) {
    await client.datasets.upload(id("slice"), Bun.file(place.path).slice(5, 50), { name: "s" });
    await arrived(received, id("slice"), (await contentOf(place.path)).subarray(5, 50));
  },
  async "uploads a File made of Bun.file, its name as browsers write it"({ client, received, id, place }) {
    const file = new File([Bun.file(place.path)], 'a "b" é.jsonl');
    await client.datasets.upload(id("ofbun"), file);
    const name = await arrived(received, id("ofbun"), await contentOf(place.path));
    equal(name, "a %22b%22 \u00c3\u00a9.jsonl");
  },
  async "uploads Bun.file and a path of the largest size, in little memory"({ client, received, id }) {
    await withLargeFile(async (path) => {
      const hash = new Bun.CryptoHasher("sha256");
      const writer = Bun.file(path).writer();
      for (let megabyte = 0; megabyte < 150; megabyte++) {
        hash.update(bytes(1024 * 1024));
        await writer.write(bytes(1024 * 1024));
      }
      await writer.end();
      const content = hash.digest("hex");
      for (const [name, file] of [
        ["large", Bun.file(path)],
        ["largepath", path],
      ]) {
        Bun.gc(true);
        const before = process.memoryUsage.rss();
        await client.datasets.upload(id(name), file);
        equal(process.memoryUsage.rss() - before < 100e6, true);
        equal((await received(id(name)))[0].file.sha256, content);
      }
    });
  },
  async "uploads Bun.file again when the service was busy"({ client, received, id, place }) {
    await client.datasets.upload(id("flaky-bun"), Bun.file(place.path));
    const files = (await received(id("flaky-bun"))).map(({ file }) => file.bytes);
    const { size } = Bun.file(place.path);
    equal(files, [size, size]);
  },
  async "says that the file of Bun.file does not exist"({ client, received, id }) {
    const error = await failure(client.datasets.upload(id("missing-bun"), Bun.file("/nowhere.jsonl")));
    equal([error.code, error.executed], ["INVALID_ARGUMENT", "no"]);
    equal(error.message.includes("ENOENT"), true);
    equal(await received(id("missing-bun")), []);
  },
  async "breaks off when the file of Bun.file grew shorter"({ client, received, id }) {
    await withLargeFile(async (path) => {
      const file = Bun.file(path);
      equal(file.size, 1024 * 1024);
      await Bun.write(path, bytes(1000));
      const error = await failure(client.datasets.upload(id("shorter"), file));
      equal([error.code, error.message.includes("then only 1000")], ["FAILED_PRECONDITION", true]);
      equal(await received(id("shorter")), []);
    });
  },
  async "uploads what has no size of its own, such as Bun.stdin"({ client, received, id, place }) {
    const piped = Bun.spawn(["cat", place.path], { stdout: "pipe" }).stdout;
    await client.datasets.upload(id("piped"), piped, { name: "s" });
    await arrived(received, id("piped"), await contentOf(place.path));
  },
  async "gets a response of Bun.serve"({ createClient, place }) {
    let form;
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        form = await request.formData();
        return Response.json({ id: "file-1" });
      },
    });
    const client = createClient({ baseUrl: server.url.origin, apiKey: "runtime-key", accountId: "acme" });
    await client.datasets.upload("reviews", Bun.file(place.path)).finally(() => server.stop(true));
    const file = form.get("file");
    equal([file.name, file.size], ["train.jsonl", Bun.file(place.path).size]);
  },
};
