// A client of the service on java.net.http, written from ../README.md. Every figure is one of ../*.json.
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.*;
import java.net.*;
import java.net.http.*;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.ByteBuffer;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.Supplier;
import java.util.regex.*;
import java.util.zip.GZIPInputStream;
import javax.net.ssl.*;

final class Client {
  static final JsonNode P = Read.data("parameters.json"), OPERATIONS = Read.data("operations.json").get("operations");
  static final ExecutorService THREADS = Executors.newCachedThreadPool();

  /** What a caller may set; null is the default. */
  static final class Options {
    int maxRetries = P.get("maxRetries").asInt();
    Boolean repeatable;
    Long timeoutMs, attemptTimeoutMs, connectTimeoutMs;
    String caCertificate, proxy;
    CompletableFuture<Object> abort = new CompletableFuture<>();
  }

  /** One connection: an HttpClient that never has two requests at a time. Whether it has served a call is known so. */
  static final class Line {
    HttpClient http;
    boolean served;
  }

  final String baseUrl;
  final Supplier<String> key;
  final boolean keyIsRenewed;
  final Options options;
  final Set<String> keys = ConcurrentHashMap.newKeySet();
  final Deque<Line> idle = new ArrayDeque<>();
  long tenths = tenths("retries");
  volatile int attempts; // of the last call

  Client(String baseUrl, Supplier<String> key, boolean keyIsRenewed, Options options) {
    this.baseUrl = baseUrl;
    this.key = key;
    this.keyIsRenewed = keyIsRenewed;
    this.options = options;
  }

  /** Makes a call. Its value is a JsonNode, or the bytes of an answer that is not Read.JSON. */
  Object call(String operation, JsonNode arguments) throws Exception {
    Call call = new Call(operation, arguments);
    attempts = 0;
    String worst = "nothing-sent";
    for (int retry = 0; ; retry++) {
      try {
        Object value = call.attempt();
        synchronized (this) {
          tenths = Math.min(tenths("retries"), tenths + tenths("successGain"));
        }
        return value;
      } catch (Failure failure) {
        worst = failure.worseThan(worst) ? failure.because : worst;
        String base = failure.code.equals("RESOURCE_EXHAUSTED") ? "exhaustedBaseMs" : "baseMs";
        double top = number("/backoff/" + base) * Math.pow(number("/backoff/factor"), retry);
        double wait = Math.random() * Math.min(number("/backoff/capMs"), top);
        if (failure.events.contains("unauthenticated")) wait = 0;
        if (failure.retryAfterMs != null) wait = Math.max(wait, failure.retryAfterMs);
        boolean free = call.line.served && failure.events.contains("connectionLost") && !call.freeUsed;
        String reason = call.whyNot(failure, retry, wait, free);
        if (reason == null) {
          call.ownLine = failure.status == 421 || call.line.served && failure.events.contains("connectionLost");
          call.freeUsed |= free;
          call.renewed |= failure.events.contains("unauthenticated");
          try {
            options.abort.get((long) Math.ceil(wait * 1e6), TimeUnit.NANOSECONDS);
          } catch (TimeoutException waited) {
            continue;
          }
          reason = "aborted";
          failure = Read.ended(reason, worst);
        }
        failure.because = worst;
        failure.notRetried = reason;
        throw failure;
      }
    }
  }

  final class Call {
    final String operation, figures, boundary = UUID.randomUUID().toString();
    final JsonNode definition, arguments;
    final boolean repeatable;
    final long deadline, attemptNanos;
    final byte[] body;
    boolean renewed, freeUsed, ownLine;
    Line line = new Line();

    Call(String operation, JsonNode arguments) throws IOException {
      this.operation = operation;
      this.arguments = arguments;
      definition = OPERATIONS.get(operation);
      Boolean said = options.repeatable;
      repeatable = said != null ? said : definition.get("repeatable").asBoolean();
      figures = said == null ? operation : said ? "rerankDocuments" : "resumeReinforcementFineTuningJob";
      byte[] file = definition.has("part") ? arguments.at("/file/content").binaryValue() : new byte[0];
      body = definition.has("part") ? form(file) : definition.has("contentType")
          ? Read.JSON.writeValueAsString(arguments.get("body")).getBytes(UTF_8) : null;
      double ms = number("/deadlines/timeoutMs/" + operation)
          + file.length * 1000.0 / number("/deadlines/uploadBytesPerSecond");
      if (options.timeoutMs != null) ms = options.timeoutMs;
      String share = repeatable && options.maxRetries > 0 ? "repeatable" : "else";
      double attemptMs = ms * number("/deadlines/attemptShare/" + share);
      if (options.attemptTimeoutMs != null) attemptMs = options.attemptTimeoutMs;
      attemptNanos = (long) (attemptMs * 1e6);
      deadline = System.nanoTime() + (long) (ms * 1e6);
    }

    String whyNot(Failure failure, int retry, double wait, boolean free) {
      if (failure.events.contains("refused")) return "refused";
      if (failure.events.contains("ended")) return failure.notRetried;
      int most = failure.retries(figures);
      if (most == 0) return failure.retries("rerankDocuments") > 0 && !repeatable ? "not-safe" : "not-transient";
      boolean key = failure.events.contains("unauthenticated"), renewable = keyIsRenewed && !renewed;
      if (key && !renewable) return retry == 0 ? "refused" : "retries-used-up";
      if (retry >= options.maxRetries || !key && retry >= most) return "retries-used-up";
      synchronized (Client.this) {
        long cost = free ? 0 : tenths("retryCost");
        if (tenths < cost) return "budget";
        if (failure.retryAfterMs != null && failure.retryAfterMs > number("/retryAfter/longestMs"))
          return "asked-to-wait-too-long";
        if (System.nanoTime() + wait * 1e6 >= deadline) return "deadline-too-close";
        tenths -= cost;
        return null;
      }
    }

    Object attempt() throws Exception {
      if (options.abort.isDone()) throw Read.ended("aborted", "nothing-sent");
      attempts++;
      String secret = key.get();
      keys.add(secret);
      line = line();
      Exchange exchange = new Exchange();
      HttpRequest request = request(secret, exchange);
      Long own = options.connectTimeoutMs; // java.net.http's own timer was seen to miss it on a busy machine
      long connectNanos = (own != null ? own : (long) number("/deadlines/connectTimeoutMs")) * 1_000_000;
      long now = System.nanoTime(), end = Math.min(deadline, now + attemptNanos);
      CompletableFuture<Object> result = new CompletableFuture<>();
      Line used = line;
      Future<?> work = THREADS.submit(() -> {
        try {
          result.complete(exchange(used, request, exchange));
        } catch (Throwable fault) {
          result.completeExceptionally(fault);
        }
      });
      try {
        CompletableFuture<Object> first = CompletableFuture.anyOf(result, options.abort);
        try {
          first.get(Math.min(end - now, connectNanos), TimeUnit.NANOSECONDS);
        } catch (TimeoutException connecting) {
          if (!exchange.sent && now + connectNanos < end) throw Read.lateToConnect();
          first.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
        }
        if (!result.isDone()) throw Read.ended("aborted", exchange.because());
        return result.get();
      } catch (ExecutionException fault) {
        if (fault.getCause() instanceof IOException lost) throw Read.lostBy(lost, exchange, request.uri().getHost());
        throw (Exception) fault.getCause();
      } catch (TimeoutException late) {
        if (end == deadline) throw Read.ended("deadline-too-close", exchange.because());
        String event = exchange.success() ? "bodyLost" : exchange.sent ? "attemptTimeout" : "neverConnected";
        String source = event.equals("neverConnected") ? "transport" : "client";
        throw new Failure("DEADLINE_EXCEEDED", source, exchange.because(), "The attempt took too long.", event);
      } finally {
        work.cancel(true);
      }
    }

    /** Sends a request and reads its answer. The line is kept if all of the answer was read. */
    Object exchange(Line line, HttpRequest request, Exchange exchange) throws Exception {
      HttpResponse<InputStream> response = line.http.send(request, head -> {
        exchange.head = head;
        return BodySubscribers.ofInputStream();
      });
      if (response.statusCode() == 407 && !exchange.sent) throw Read.tunnel(407);
      double most = number("/answers/" + (exchange.success() ? "maxBytes/" + operation : "maxErrorBytes"));
      try (InputStream raw = response.body()) {
        boolean gzip = response.headers().firstValue("content-encoding").orElse("").equalsIgnoreCase("gzip");
        InputStream in = gzip ? new GZIPInputStream(raw) : raw;
        byte[] some = new byte[16384];
        for (int n; exchange.got.size() <= most && (n = in.read(some)) >= 0; ) exchange.got.write(some, 0, n);
        if (exchange.got.size() <= most && raw.read() < 0) synchronized (Client.this) {
          line.served = true;
          idle.push(line);
        }
      } catch (IOException lost) {
        if (exchange.success()) throw lost;
      }
      if (!exchange.success()) throw Read.error(exchange, keys);
      if (exchange.got.size() > most)
        throw new Failure("RESOURCE_EXHAUSTED", "client", "success-began", "The answer is too large.", "tooLarge");
      return valueOf(exchange);
    }

    Object valueOf(Exchange exchange) throws Failure {
      if (definition.has("answerType")) return exchange.got.toByteArray();
      if (!definition.has("answer")) return Read.JSON.createObjectNode();
      String text = Read.textOf(exchange), event = exchange.head.statusCode() == 200 ? "notJson" : "otherSuccess";
      JsonNode value = Read.parsed(text);
      if (value != null && value.isObject()) {
        if (Read.hasWhatIsNeeded(operation, value)) return value;
        event = "incomplete";
      } else if (text.strip().startsWith("<")) event = "html";
      String because = event.equals("html") ? "unclear-answer" : "success-began";
      throw new Failure("INTERNAL", "client", because, "The answer is not what it should be.", event);
    }

    Line line() throws Exception {
      synchronized (Client.this) {
        if (repeatable && !ownLine && !idle.isEmpty()) return idle.pop();
      }
      HttpClient.Builder builder = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).executor(THREADS);
      if (options.proxy != null) {
        URI proxy = URI.create(options.proxy);
        builder.proxy(ProxySelector.of(new InetSocketAddress(proxy.getHost(), proxy.getPort())));
      }
      if (options.caCertificate != null) {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        InputStream pem = new ByteArrayInputStream(options.caCertificate.getBytes(UTF_8));
        store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(pem));
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(store);
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(null, trust.getTrustManagers(), null);
        builder.sslContext(tls);
      }
      Line made = new Line();
      made.http = builder.build();
      return made;
    }

    HttpRequest request(String secret, Exchange exchange) {
      String path = Pattern.compile("\\{(\\w+)\\}").matcher(definition.get("path").asText())
          .replaceAll(name -> encoded(arguments.get(name.group(1))));
      StringJoiner query = new StringJoiner("&", "?", "").setEmptyValue("");
      for (JsonNode name : definition.path("query"))
        for (JsonNode value : arguments.path(name.asText()).isValueNode() ? List.of(arguments.get(name.asText()))
            : arguments.path(name.asText())) query.add(encoded(name) + "=" + encoded(value));
      HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(baseUrl + path + query))
          .header("authorization", "Bearer " + secret).header("accept-encoding", "gzip");
      for (JsonNode name : definition.path("headers"))
        if (arguments.has(name.asText())) builder.header(name.asText(), arguments.get(name.asText()).asText());
      if (body != null) builder.header("content-type", definition.get("contentType").asText()
          + (definition.has("part") ? "; boundary=" + boundary : ""));
      BodyPublisher sent = body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body);
      return builder.method(definition.get("method").asText(), new BodyPublisher() {
        public long contentLength() {
          return sent.contentLength();
        }

        // The body is asked for once there is a connection.
        public void subscribe(Flow.Subscriber<? super ByteBuffer> subscriber) {
          exchange.sent = true;
          sent.subscribe(subscriber);
        }
      }).build();
    }

    byte[] form(byte[] file) {
      String name = arguments.get("file").get("name").asText().replace("\"", "%22");
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      out.writeBytes(("--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + definition.get("part").asText()
          + "\"; filename=\"" + name + "\"\r\nContent-Type: application/octet-stream\r\n\r\n").getBytes(UTF_8));
      out.writeBytes(file);
      out.writeBytes(("\r\n--" + boundary + "--\r\n").getBytes(UTF_8));
      return out.toByteArray();
    }
  }

  static String encoded(JsonNode value) {
    return URLEncoder.encode(value.asText(), UTF_8).replace("+", "%20").replace("*", "%2A").replace("%7E", "~");
  }

  static double number(String pointer) {
    return P.at(pointer).asDouble();
  }

  static long tenths(String name) {
    return Math.round(number("/budget/" + name) * 10);
  }
}
