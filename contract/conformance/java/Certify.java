// Does what `npx tunerank conformance` asks for; in this folder:
// mvn -q compile exec:java -Dexec.args="http://127.0.0.1:4020 16"
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

final class Certify {
  // Of the client, whose system properties are set before java.net.http reads them.
  static final HttpClient HTTP = new Client().connections.get().build();
  /** What java.net.http does not pass on, or cannot do without a setting of the whole program. */
  static final Set<String> HIDDEN =
      Set.of("status-101", "bytes-behind", "proxy-credentials", "proxy-environment");

  public static void main(String[] args) throws Exception {
    if (args.length == 0) { // One row, of which another program asks for the outcome.
      System.out.println(outcomeOf(Client.JSON.readTree(System.in)));
      System.exit(0);
    }
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
        ObjectNode made = row.has("programs") ? inPrograms(row) : outcomeOf(row);
        String outcome = Client.JSON.writeValueAsString(made);
        ask(HttpRequest.newBuilder(URI.create(runner + "/outcome")).header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(outcome)).build());
      }
    } catch (Exception fault) {
      fault.printStackTrace();
      System.exit(1);
    }
  }

  static JsonNode ask(HttpRequest request) throws Exception {
    return Client.JSON.readTree(HTTP.send(request, BodyHandlers.ofString()).body());
  }

  static ObjectNode outcomeOf(JsonNode row) throws Exception {
    ObjectNode outcome = Client.JSON.createObjectNode().put("id", row.get("id").asText());
    for (JsonNode need : row.get("needs"))
      if (HIDDEN.contains(need.asText())) return outcome.put("skipped", need.asText());
    if (row.has("parallel")) return outcome.set("values", inParallel(clientOf(row), row));
    Client client = clientOf(row);
    Map<String, Client> clients = new HashMap<>();
    for (int n = 0; n < row.path("calls").asInt(1); n++) {
      if (row.has("keyPerCall")) {
        String key = row.get("keyPerCall").get(n).asText();
        ((ObjectNode) row).put("apiKey", key);
        if (!clients.containsKey(key)) clients.put(key, clientOf(row.deepCopy()));
        client = clients.get(key);
      }
      if (n > 0 && row.path("newClientPerCall").asBoolean()) client = clientOf(row);
      outcome.retain("id");
      call(client, row, outcome);
    }
    return outcome;
  }

  /** Starts this program anew for a row, as often as it asks for. */
  static ObjectNode inPrograms(JsonNode row) throws Exception {
    JsonNode outcome = null;
    String java = ProcessHandle.current().info().command().orElse("java");
    for (int n = 0; n < row.get("programs").asInt(); n++) {
      Process program = new ProcessBuilder(java, "-cp", classPath(), "Certify").redirectError(Redirect.INHERIT).start();
      try (OutputStream in = program.getOutputStream()) { Client.JSON.writeValue(in, row); }
      outcome = Client.JSON.readTree(program.getInputStream());
    }
    return (ObjectNode) outcome;
  }

  /** Where this program and Jackson are, also if Maven runs it. */
  static String classPath() throws Exception {
    List<String> places = new ArrayList<>();
    for (Class<?> one : List.of(Certify.class, JsonNode.class, JsonParser.class, JsonProperty.class))
      places.add(Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI()).toString());
    return String.join(File.pathSeparator, places);
  }

  /** Makes all calls of a row at the same time, with one client. */
  static ArrayNode inParallel(Client client, JsonNode row) throws Exception {
    List<Future<Client.Call>> calls = new ArrayList<>();
    for (JsonNode given : row.get("parallel"))
      calls.add(Client.THREADS.submit(() -> client.call(row.get("operation").asText(), argumentsOf(given))));
    ArrayNode values = Client.JSON.createArrayNode();
    for (Future<Client.Call> call : calls) values.add((JsonNode) call.get().last.value());
    return values;
  }

  static void call(Client client, JsonNode row, ObjectNode outcome) throws Exception {
    JsonNode abort = row.at("/options/abortAfterMs");
    Thread caller = Thread.currentThread();
    CountDownLatch ended = new CountDownLatch(1);
    if (abort.asInt(1) == 0) caller.interrupt();
    else if (abort.isNumber()) Client.THREADS.submit(() -> {
      if (!ended.await(abort.asInt(), TimeUnit.MILLISECONDS)) caller.interrupt();
      return null;
    });
    Client.Call call = client.call(row.get("operation").asText(), argumentsOf(row.get("arguments")));
    Client.Outcome last = call.last;
    ended.countDown();
    Thread.interrupted(); // An abort that came after the end.
    if (last.value() instanceof byte[] bytes) outcome.put("value", bytes); // In Base64.
    else if (last.value() instanceof JsonNode json) outcome.set("value", json);
    if (last.code() == null) outcome.putArray("capabilities").add("unknown-members").add("int64");
    else outcome.put("code", last.code()).put("codeSource", last.codeSource())
        .put("inferred", last.inferred()).put("executed", call.executed())
        .put("executedBecause", call.because).put("notRetried", call.notRetried)
        .put("retryAfterMs", last.retryAfterMs())
        .put("message", last.message()).put("text", last.toString());
    outcome.put("attempts", call.attempts);
  }

  static Client clientOf(JsonNode row) throws Exception {
    Client client = new Client();
    client.baseUrl = row.get("baseUrl").asText();
    JsonNode options = row.get("options"), keys = row.path("apiKeys");
    AtomicInteger asked = new AtomicInteger();
    client.keyIsRenewed = row.has("apiKeys");
    client.key = client.keyIsRenewed ? () -> keys.get(Math.min(1, asked.getAndIncrement())).asText()
        : () -> row.get("apiKey").asText();
    client.maxRetries = options.path("maxRetries").asDouble(client.maxRetries);
    if (options.has("timeoutMs")) client.timeoutMs = options.get("timeoutMs").asDouble();
    if (options.has("attemptTimeoutMs")) client.attemptTimeoutMs = options.get("attemptTimeoutMs").asDouble();
    client.connectTimeoutMs = options.path("connectTimeoutMs").asDouble(client.connectTimeoutMs);
    if (options.has("repeatable")) client.repeatable = options.get("repeatable").asBoolean();
    JsonNode pem = row.path("caCertificate");
    SSLContext tls = pem.isTextual() ? trusting(pem.asText()) : SSLContext.getDefault();
    URI proxy = URI.create(row.path("proxy").asText());
    ProxySelector selector = ProxySelector.of(
        row.has("proxy") ? new InetSocketAddress(proxy.getHost(), proxy.getPort()) : null);
    client.showsKey = row.has("proxy") && client.baseUrl.startsWith("http:");
    client.connections = () -> HttpClient.newBuilder().sslContext(tls).proxy(selector);
    return client;
  }

  static SSLContext trusting(String pem) throws Exception {
    InputStream bytes = new ByteArrayInputStream(pem.getBytes(StandardCharsets.UTF_8));
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(bytes));
    TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
    trust.init(store);
    SSLContext tls = SSLContext.getInstance("TLS");
    tls.init(null, trust.getTrustManagers(), null);
    return tls;
  }

  /** A file is content in UTF-8, or the bytes of base64 over and over until there are so many. */
  static JsonNode argumentsOf(JsonNode given) throws Exception {
    if (!(given.path("file") instanceof ObjectNode file) || file.path("content").isBinary()) return given;
    byte[] all = file.path("content").asText().getBytes(StandardCharsets.UTF_8);
    if (file.has("base64")) {
      byte[] once = file.get("base64").binaryValue();
      all = new byte[file.get("bytes").asInt()];
      for (int at = 0; at < all.length; at++) all[at] = once[at % once.length];
    }
    file.put("content", all);
    return given;
  }
}
