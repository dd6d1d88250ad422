// Does what `npx tunerank conformance` asks for: mvn -q compile exec:java -Dexec.args="http://127.0.0.1:4020 16"
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

final class Certify {
  static final HttpClient HTTP = HttpClient.newHttpClient();
  /** What java.net.http does not pass on: a 101, and what it has read behind an answer. */
  static final Set<String> HIDDEN = Set.of("status-101", "bytes-behind");

  public static void main(String[] args) throws Exception {
    int workers = args.length > 1 ? Integer.parseInt(args[1]) : 16;
    List<Thread> threads = new ArrayList<>();
    for (int n = 0; n < workers; n++) {
      Thread thread = new Thread(() -> work(args[0]));
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) thread.join();
    System.exit(0);
  }

  static void work(String runner) {
    try {
      while (true) {
        JsonNode row = ask(HttpRequest.newBuilder(URI.create(runner + "/next")).build());
        if (row.path("done").asBoolean()) return;
        String outcome = Read.JSON.writeValueAsString(outcomeOf(row));
        ask(HttpRequest.newBuilder(URI.create(runner + "/outcome")).header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(outcome)).build());
      }
    } catch (Exception fault) {
      fault.printStackTrace();
      System.exit(1);
    }
  }

  static JsonNode ask(HttpRequest request) throws Exception {
    return Read.JSON.readTree(HTTP.send(request, BodyHandlers.ofString()).body());
  }

  static ObjectNode outcomeOf(JsonNode row) throws Exception {
    ObjectNode outcome = Read.JSON.createObjectNode().put("id", row.get("id").asText());
    for (JsonNode need : row.get("needs"))
      if (HIDDEN.contains(need.asText())) return outcome.put("skipped", need.asText());
    Client client = clientOf(row);
    for (int n = 0; n < row.path("calls").asInt(1); n++) {
      if (n > 0 && row.path("newClientPerCall").asBoolean()) client = clientOf(row);
      outcome.retain("id");
      call(client, row, outcome);
    }
    return outcome;
  }

  static void call(Client client, JsonNode row, ObjectNode outcome) throws Exception {
    JsonNode abort = row.at("/options/abortAfterMs");
    if (abort.asInt(1) == 0) client.options.abort.complete(null);
    else if (abort.isNumber()) CompletableFuture.delayedExecutor(abort.asInt(), TimeUnit.MILLISECONDS)
        .execute(() -> client.options.abort.complete(null));
    try {
      Object value = client.call(row.get("operation").asText(), argumentsOf(row));
      if (value instanceof JsonNode json) outcome.set("value", json);
      else outcome.put("value", new String((byte[]) value, StandardCharsets.UTF_8));
      outcome.putArray("capabilities").add("unknown-members").add("int64");
    } catch (Failure failure) {
      StringWriter text = new StringWriter();
      failure.printStackTrace(new PrintWriter(text));
      outcome.put("code", failure.code).put("codeSource", failure.codeSource).put("message", failure.getMessage())
          .put("executed", failure.executed()).put("executedBecause", failure.because)
          .put("inferred", failure.inferred).put("notRetried", failure.notRetried)
          .put("retryAfterMs", failure.retryAfterMs).put("text", text.toString());
    }
    outcome.put("attempts", client.attempts);
  }

  static Client clientOf(JsonNode row) {
    Client.Options options = new Client.Options();
    JsonNode said = row.get("options");
    options.maxRetries = said.path("maxRetries").asInt(options.maxRetries);
    options.timeoutMs = milliseconds(said.path("timeoutMs"));
    options.attemptTimeoutMs = milliseconds(said.path("attemptTimeoutMs"));
    options.connectTimeoutMs = milliseconds(said.path("connectTimeoutMs"));
    if (said.has("repeatable")) options.repeatable = said.get("repeatable").asBoolean();
    options.caCertificate = row.path("caCertificate").asText(null);
    options.proxy = row.path("proxy").asText(null);
    JsonNode keys = row.path("apiKeys");
    AtomicInteger asked = new AtomicInteger();
    Supplier<String> key = row.has("apiKeys") ? () -> keys.get(Math.min(1, asked.getAndIncrement())).asText()
        : () -> row.get("apiKey").asText();
    return new Client(row.get("baseUrl").asText(), key, row.has("apiKeys"), options);
  }

  /** A file is content in UTF-8, or the bytes of base64 over and over until there are so many. */
  static JsonNode argumentsOf(JsonNode row) throws Exception {
    if (!(row.at("/arguments/file") instanceof ObjectNode file) || file.path("content").isBinary())
      return row.get("arguments");
    byte[] all = file.path("content").asText().getBytes(StandardCharsets.UTF_8);
    if (file.has("base64")) {
      byte[] once = file.get("base64").binaryValue();
      all = new byte[file.get("bytes").asInt()];
      for (int at = 0; at < all.length; at++) all[at] = once[at % once.length];
    }
    file.put("content", all);
    return row.get("arguments");
  }

  static Long milliseconds(JsonNode given) {
    return given.isNumber() ? (Long) given.asLong() : null;
  }
}
