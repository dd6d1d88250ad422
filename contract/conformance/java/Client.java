// A client of the service on java.net.http, written from ../README.md. Every figure is one of ../*.json.
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.*;
import com.fasterxml.jackson.databind.node.*;
import java.io.*;
import java.math.BigDecimal;
import java.net.*;
import java.net.http.*;
import java.net.http.HttpRequest.*;
import java.net.http.HttpResponse.*;
import java.time.*;
import java.time.format.DateTimeFormatter;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.function.*;
import java.util.regex.*;
import java.util.stream.*;
import java.util.zip.GZIPInputStream;

/** A client. Its first fields are what a caller may set; null is the default. */
final class Client {
  static { // Else java.net.http itself sends a GET again whose connection is lost, and closes no connection.
    System.setProperty("jdk.httpclient.redirects.retrylimit", "1");
    System.setProperty("jdk.httpclient.allowRestrictedHeaders", "connection");
  }
  static final ObjectMapper JSON = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
  static final JsonNode P = read(() -> JSON.readTree(new File("../parameters.json")), none -> null);
  static final JsonNode OPERATIONS = read(() -> JSON.readTree(new File("../operations.json")), none -> null);
  static final ExecutorService THREADS = Executors.newCachedThreadPool();
  String baseUrl;
  Supplier<String> key;
  boolean keyIsRenewed, showsKey; // whether a proxy would see the key
  Boolean repeatable;
  Double timeoutMs, attemptTimeoutMs, connectTimeoutMs = number("/deadlines/connectTimeoutMs");
  double maxRetries = number("/maxRetries");
  Supplier<HttpClient.Builder> connections = HttpClient::newBuilder;
  final Set<String> keys = ConcurrentHashMap.newKeySet();
  final AtomicLong tenths = new AtomicLong(tenths("retries"));
  final Deque<HttpClient> idle = new ConcurrentLinkedDeque<>(); // Each is one connection that served a call.

  Call call(String name, JsonNode arguments) throws Exception { return new Call(name, arguments).run(); }

  /** What came of an attempt: a value, or a failure, which has a code. */
  record Outcome(Object value, String code, String codeSource, boolean inferred, String because,
      String message, Long retryAfterMs, int status, Set<String> events) {
    static Outcome failure(String code, String codeSource, String because, String message, String event) {
      return new Outcome(null, code, codeSource, true, because, message, null, 0, Set.of(event));
    }

    double retries(String column) {
      return events.stream().mapToDouble(e -> number("/events/" + e + "/retries/" + column)).min().orElse(0);
    }
  }

  /** A call: what came of its last attempt, and of all of them. */
  final class Call {
    static final Map<String, Integer> RANKS =
        Map.of("nothing-sent", 0, "refused", 1, "no-answer", 2, "unclear-answer", 2, "success-began", 3);
    Outcome last;
    String because = "nothing-sent", notRetried;
    int attempts;
    final String operation, column, boundary = "" + UUID.randomUUID();
    final JsonNode definition, arguments;
    final boolean safe;
    final BodyPublisher body;
    final double attemptMs, deadline;
    boolean reused, renewed, ownConnection, freeUsed;
    volatile InputStream reading;

    Call(String operation, JsonNode arguments) throws IOException {
      this.operation = operation;
      this.arguments = arguments;
      definition = OPERATIONS.get("operations").get(operation);
      safe = repeatable != null ? repeatable : definition.get("repeatable").asBoolean();
      column = repeatable == null ? operation : safe ? "rerankDocuments" : "resumeReinforcementFineTuningJob";
      byte[] file = definition.has("part") ? arguments.at("/file/content").binaryValue() : new byte[0];
      body = definition.has("part") ? form(file) : !definition.has("contentType") ? BodyPublishers.noBody()
          : BodyPublishers.ofString(JSON.writeValueAsString(arguments.get("body")), UTF_8);
      double fileMs = file.length * 1000.0 / number("/deadlines/uploadBytesPerSecond");
      double ms = timeoutMs != null ? timeoutMs : number("/deadlines/timeoutMs/" + operation) + fileMs;
      double share = number("/deadlines/attemptShare/" + (safe && maxRetries > 0 ? "repeatable" : "else"));
      attemptMs = attemptTimeoutMs != null ? attemptTimeoutMs : ms * share;
      deadline = now() + ms;
    }

    BodyPublisher form(byte[] file) {
      String part = definition.get("part").asText(), name = arguments.at("/file/name").asText();
      String head = "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + part + "\"; filename=\""
          + name.replaceFirst("(?s).*[/\\\\]", "").replace("\"", "%22").replace("\r", "%0D").replace("\n", "%0A") + "\"\r\nContent-Type: application/octet-stream\r\n\r\n";
      return BodyPublishers.concat(BodyPublishers.ofString(head), BodyPublishers.ofByteArray(file),
          BodyPublishers.ofString("\r\n--" + boundary + "--\r\n"));
    }

    String executed() { return List.of("no", "no", "unknown", "yes").get(RANKS.get(because)); }

    /** Whether an id is empty or dots, and the path with it is that of another resource. */
    boolean leadsElsewhere() {
      return Pattern.compile("\\{(\\w+)\\}").matcher(definition.get("path").asText()).results()
          .anyMatch(name -> Set.of("", ".", "..").contains(arguments.path(name.group(1)).asText()));
    }

    /** Makes the call, which an interrupt aborts. Its value is JSON, or the bytes of what is no JSON. */
    Call run() throws Exception {
      double wait = 0;
      if (leadsElsewhere() || showsKey) {
        String why = showsKey ? "The proxy would see the key." : "An id leads to another place.";
        last = Outcome.failure("INVALID_ARGUMENT", "client", because, why, "refused");
        notRetried = "refused";
        return this;
      }
      for (int retry = 0; notRetried == null; retry++) {
        last = attempt(wait, new AtomicReference<>("nothing-sent"));
        if (last.code == null) break;
        String base = last.code.equals("RESOURCE_EXHAUSTED") ? "exhaustedBaseMs" : "baseMs";
        double top = number("/backoff/" + base) * Math.pow(number("/backoff/factor"), retry);
        wait = Math.random() * Math.min(number("/backoff/capMs"), top);
        if (last.events.contains("unauthenticated")) wait = 0;
        if (last.retryAfterMs != null) wait = Math.max(wait, last.retryAfterMs);
        if (RANKS.get(last.because) >= RANKS.get(because)) because = last.because;
        notRetried = whyNot(retry, wait);
      }
      if (last.code == null) tenths.updateAndGet(t -> Math.min(tenths("retries"), t + tenths("successGain")));
      return this;
    }

    /** Why the last failure ends the call; null if there is another attempt, which the budget pays for. */
    String whyNot(int retry, double wait) {
      boolean renews = last.events.contains("unauthenticated"), aborted = last.code.equals("CANCELLED");
      boolean wasIdle = reused && last.events.contains("connectionLost");
      double most = last.retries(column), ifSafe = last.retries("rerankDocuments");
      if (last.events.contains("ended")) return aborted ? "aborted" : "deadline-too-close";
      if (last.events.contains("refused")) return "refused";
      String unsafe = RANKS.get(last.because) < RANKS.get("no-answer") ? "no-retry-after" : "not-safe";
      if (most == 0) return ifSafe > 0 && !safe ? unsafe : "not-transient";
      if (renews && (renewed || !keyIsRenewed)) return retry == 0 ? "refused" : "retries-used-up";
      boolean tooLong = last.retryAfterMs != null && last.retryAfterMs > number("/retryAfter/longestMs");
      if (tooLong) return "asked-to-wait-too-long";
      if (retry >= maxRetries || !renews && retry >= most) return "retries-used-up";
      long cost = wasIdle && !freeUsed ? 0 : tenths("retryCost");
      boolean late = now() + wait >= deadline;
      if (tenths.getAndUpdate(t -> t < cost || late ? t : t - cost) < cost) return "budget";
      ownConnection = last.status == 421 || wasIdle;
      freeUsed |= wasIdle;
      renewed |= renews;
      return late ? "deadline-too-close" : null;
    }

    /** Waits, and makes a request. "because" says how far that got. */
    Outcome attempt(double wait, AtomicReference<String> because) throws Exception {
      try {
        Thread.sleep((long) Math.ceil(wait));
        attempts++;
        HttpRequest request = request(key.get(), because);
        HttpClient old = safe && !ownConnection ? idle.poll() : null;
        reused = old != null;
        HttpClient http = reused ? old
            : connections.get().version(HttpClient.Version.HTTP_1_1).executor(THREADS)
                .connectTimeout(Duration.ofMillis((long) connectTimeoutMs.doubleValue())).build();
        double end = Math.min(deadline, now() + attemptMs);
        Future<Outcome> work = THREADS.submit(() -> exchange(http, request, because));
        try { // The timers of java.net.http were seen to be late on a busy machine.
          return work.get((long) (1e6 * Math.min(connectTimeoutMs, end - now())), TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
          if (because.get().equals("nothing-sent")) throw late;
          return work.get((long) (1e6 * (end - now())), TimeUnit.NANOSECONDS);
        } finally {
          work.cancel(true);
          if (reading != null) reading.close(); // An interrupt alone does not end its reading.
        }
      } catch (InterruptedException aborted) {
        return Outcome.failure("CANCELLED", "client", because.get(), "The call was aborted.", "ended");
      } catch (TimeoutException late) {
        Map<String, String> faults = Map.of("nothing-sent", "connect-stalls", "success-began", "body-stalls");
        if (now() < deadline) return fault(faults.getOrDefault(because.get(), "silence"), because.get());
        return Outcome.failure("DEADLINE_EXCEEDED", "client", because.get(), "It took too long.", "ended");
      } catch (ExecutionException failed) {
        if (!(failed.getCause() instanceof IOException lost)) throw failed;
        return fault(nameOf(lost, because.get()), because.get());
      }
    }

    HttpRequest request(String secret, AtomicReference<String> because) {
      keys.add(secret);
      String baseUrl = Client.this.baseUrl.replaceFirst("/+$", "");
      String path = Pattern.compile("\\{(\\w+)\\}").matcher(definition.get("path").asText())
          .replaceAll(name -> encoded(arguments.get(name.group(1))));
      StringJoiner query = new StringJoiner("&", "?", "").setEmptyValue("");
      for (JsonNode name : definition.path("query"))
        listed(arguments.path(name.asText())).forEach(one -> query.add(encoded(name) + "=" + encoded(one)));
      HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(baseUrl + path + query))
          .header("authorization", "Bearer " + secret).header("accept-encoding", "gzip");
      for (JsonNode name : definition.path("headers"))
        listed(arguments.path(name.asText())).forEach(one -> builder.header(name.asText(), one.asText()));
      String type = definition.path("contentType").asText(), and = "; boundary=" + boundary;
      if (!safe) builder.header("connection", "close"); // No other call may use it.
      if (!type.isEmpty()) builder.header("content-type", definition.has("part") ? type + and : type);
      if (body.contentLength() == 0) because.set("no-answer"); // Nothing says when such a request is sent.
      BodyPublisher told = body.contentLength() == 0 ? body : BodyPublishers.fromPublisher(subscriber -> {
        because.set("no-answer"); // The body is asked for once there is a connection.
        body.subscribe(subscriber);
      }, body.contentLength());
      return builder.method(definition.get("method").asText(), told).build();
    }

    /** Sends a request and reads its answer. The connection is kept if all of the answer was read. */
    Outcome exchange(HttpClient http, HttpRequest request, AtomicReference<String> because) throws Exception {
      HttpResponse<InputStream> answer = http.send(request, BodyHandlers.ofInputStream());
      if (because.get().equals("nothing-sent") || answer.body() == null) return fault("tunnel-credentials", "nothing-sent");
      boolean good = answer.statusCode() / 100 == 2;
      because.set(good ? "success-began" : "unclear-answer");
      double most = number("/answers/" + (good ? "maxBytes/" + operation : "maxErrorBytes"));
      ByteArrayOutputStream got = new ByteArrayOutputStream();
      try (InputStream raw = reading = answer.body()) {
        boolean gzip = answer.headers().firstValue("content-encoding").orElse("").equalsIgnoreCase("gzip");
        InputStream in = gzip ? new GZIPInputStream(raw) : raw;
        byte[] some = new byte[16384];
        for (int n; got.size() <= most && (n = in.read(some)) >= 0; ) got.write(some, 0, n);
        if (got.size() <= most && raw.read() < 0 && safe) idle.push(http);
      } catch (IOException cut) {
        if (good) throw cut;
      }
      if (good && got.size() > most) return fault("body-endless", "success-began");
      String text = got.toString(UTF_8).replaceFirst("^\ufeff", "").strip();
      JsonNode json = read(() -> JSON.readTree(text), none -> MissingNode.getInstance());
      if (!good) return errorIn(text, json, answer);
      Object value = definition.has("answerType") ? got.toByteArray()
          : !definition.has("answer") ? JSON.createObjectNode() : isWhole(json) ? json : null;
      if (value != null) return new Outcome(value, null, null, false, "success-began", null, null, 0, null);
      String other = answer.statusCode() == 200 ? "notJson" : "otherSuccess";
      String event = json.isObject() ? "incomplete" : text.startsWith("<") ? "html" : other;
      String ran = event.equals("html") ? "unclear-answer" : "success-began";
      return Outcome.failure("INTERNAL", "client", ran, "The answer is not what it should be.", event);
    }

    /** Whether an answer has what the caller cannot do without. */
    boolean isWhole(JsonNode answer) {
      Predicate<JsonNode> ranked = one -> one.path("index").isIntegralNumber()
          && one.path("relevance_score").isNumber() && Double.isFinite(one.get("relevance_score").asDouble());
      JsonNode data = answer.path("data");
      return answer.isObject() && switch (operation) {
        case "uploadDatasetFile" -> answer.path("id").isTextual();
        case "rerankDocuments" -> data.isArray() && data.valueStream().allMatch(ranked);
        default -> true;
      };
    }
  }

  Outcome errorIn(String text, JsonNode whole, HttpResponse<?> answer) {
    int status = answer.statusCode();
    JsonNode json = whole.isArray() && whole.size() == 1 ? whole.get(0) : whole;
    Predicate<String> has = range -> Integer.parseInt(range.substring(0, 3)) <= status
        && status <= Integer.parseInt(range.substring(range.length() - 3));
    JsonNode row = P.get("statuses").valueStream().filter(one -> one.get("statuses").valueStream()
        .map(JsonNode::asText).anyMatch(has)).findFirst().orElseThrow();
    String named = status < 400 ? null : codeIn(json, status);
    boolean sure = row.get("notInferred").valueStream().anyMatch(one -> one.asInt() == status);
    Long wait = retryAfter(answer.headers(), json);
    Set<String> events = new HashSet<>();
    if (named != null) events.add(P.at("/codes/" + named + "/event").asText());
    if (number("/codes/" + named + "/httpStatus") != status) events.add(row.get("event").asText());
    if (wait != null && events.remove("exhausted")) events.add("exhaustedTimed");
    boolean no = events.stream().allMatch(one -> P.at("/events/" + one + "/executed").asText().equals("no"));
    String message = status < 400 ? "" : redacted(messageIn(json, redacted(text)));
    String code = named != null ? named : row.get("code").asText(), from = named != null ? "body" : "status";
    return new Outcome(null, code, from, named == null && !sure, no ? "refused" : "unclear-answer",
        message.isEmpty() ? "HTTP status " + status : message, wait, status, events);
  }

  static String codeIn(JsonNode json, int status) {
    JsonNode codes = P.get("codes"), code = json.path("code");
    String lower = code.asText().replace("canceled", "cancelled");
    Predicate<String> numbered = name -> code.isNumber() && number("/codes/" + name + "/httpStatus") == status
        && number("/codes/" + name + "/grpcNumber") == code.asDouble();
    Stream<String> fields = P.at("/errorBody/codeFields").valueStream()
        .map(field -> json.at("/" + field.asText().replace('.', '/')).asText()).filter(codes::has);
    Stream<String> others = codes.propertyStream().map(Map.Entry::getKey)
        .filter(name -> numbered.test(name) || name.toLowerCase(Locale.ROOT).equals(lower));
    return Stream.concat(fields, others).findFirst().orElse(null);
  }

  static String messageIn(JsonNode json, String text) {
    Matcher title = Pattern.compile("(?is)<title[^>]*>\\s*([^<\\s].*?)</title>").matcher(text);
    String words = title.find() ? title.group(1) : text.replaceAll("<[^>]*>", " ");
    String flat = (text.startsWith("<") ? words : text).replaceAll("\\s+", " ").strip();
    if (json.isMissingNode()) return (text.startsWith("<") ? "%.200s" : "%.500s").formatted(flat);
    String list = json.path("detail").valueStream().map(item -> item.path("msg").textValue())
        .filter(Objects::nonNull).collect(Collectors.joining("; "));
    return Stream.of(json.at("/error/message"), json.at("/error"), json.at("/message"), json.at("/Message"),
            json.at("/detail"), TextNode.valueOf(list), json.at("/title"), json)
        .map(JsonNode::textValue).filter(one -> one != null && !one.isBlank()).findFirst().orElse("").strip();
  }

  /** The longest time that an error answer asks to wait; null if it names none. */
  static Long retryAfter(HttpHeaders headers, JsonNode json) {
    Supplier<Long> now = () ->
        headers.firstValue("date").map(Client::date).orElseGet(System::currentTimeMillis);
    List<String> after = headers.allValues("retry-after");
    Stream<JsonNode> items = Stream.of("/error/details", "/details").flatMap(at -> json.at(at).valueStream());
    return Stream.of(headers.allValues("retry-after-ms").stream().map(text -> milliseconds(text, "", 1)),
            after.stream().map(text -> milliseconds(text, "", 1000)),
            after.stream().map(Client::date).filter(Objects::nonNull).map(at -> Math.max(0, at - now.get())),
            items.filter(item -> item.path("@type").asText().endsWith("google.rpc.RetryInfo"))
                .map(item -> milliseconds(item.path("retryDelay").asText(), "s", 1000)))
        .flatMap(times -> times).filter(Objects::nonNull).max(Long::compare).orElse(null);
  }

  static Long milliseconds(String text, String unit, int ms) {
    Matcher number = Pattern.compile("(\\d+(\\.\\d+)?)" + unit).matcher(text.strip());
    if (!number.matches()) return null;
    return (long) Math.ceil(new BigDecimal(number.group(1)).multiply(BigDecimal.valueOf(ms)).doubleValue());
  }

  /** A date in one of the three forms of RFC 9110; null for any other text. */
  static Long date(String text) {
    if (!text.contains(":")) return null; // To make the format takes its time.
    String forms = "[dd MMM uuuu HH:mm:ss 'GMT'][dd-MMM-uu HH:mm:ss 'GMT'][MMM ppd HH:mm:ss uuuu]";
    DateTimeFormatter format = DateTimeFormatter.ofPattern(forms, Locale.US);
    String withoutDay = text.strip().replaceFirst("^\\w+,? ", "");
    LocalDateTime date = read(() -> LocalDateTime.parse(withoutDay, format), none -> null);
    if (date == null) return null;
    boolean past = text.contains("-") && date.isAfter(LocalDateTime.now().plusYears(50));
    return date.minusYears(past ? 100 : 0).toInstant(ZoneOffset.UTC).toEpochMilli();
  }

  /** A failure that is a row of "network". */
  static Outcome fault(String name, String because) {
    JsonNode row = P.get("network").get(name);
    String code = row.get("code").asText(), event = row.get("event").asText();
    String source = Set.of("silence", "body-stalls", "body-endless").contains(name) ? "client" : "transport";
    boolean sent = !row.get("executed").asText().equals("no");
    return Outcome.failure(code, source, sent ? because : "nothing-sent", "It failed: " + name, event);
  }

  /** The row of "network" that is of what java.net.http throws. */
  String nameOf(IOException lost, String because) {
    List<Throwable> causes = Stream.iterate((Throwable) lost, Objects::nonNull, Throwable::getCause).toList();
    Predicate<String> is = start -> causes.stream().anyMatch(cause -> cause.toString().startsWith(start));
    String host = URI.create(baseUrl).getHost();
    return because.equals("success-began") ? "body-truncated"
        : is.test("java.io.IOException: Tunnel failed, got: 5") ? "tunnel-failed"
        : is.test("java.io.IOException: Tunnel failed, got: ") ? "tunnel-refused"
        : is.test("javax.net.ssl.SSLHandshakeException: Remote host ") ? "tls-closed"
        : is.test("javax.net.ssl.") ? "tls-untrusted"
        : is.test("java.net.http.HttpConnectTimeoutException") ? "connect-stalls"
        : because.equals("no-answer") && !is.test("java.net.ConnectException") ? "reset-before-headers"
        : read(() -> InetAddress.getByName(host) == null, why -> !why.getMessage().contains("Temporary"))
            ? "name-not-found" : "refused";
  }

  /** What is read, or what is made of the exception. */
  static <T> T read(Callable<T> reading, Function<Exception, T> otherwise) {
    try {
      return reading.call();
    } catch (Exception unreadable) {
      return otherwise.apply(unreadable);
    }
  }

  static String encoded(JsonNode one) {
    return URLEncoder.encode(one.asText(), UTF_8).replace("+", "%20").replace("*", "%2A").replace("%7E", "~");
  }

  String redacted(String text) { return keys.stream().reduce(text, (all, one) -> all.replace(one, "[key]")); }
  static Iterable<JsonNode> listed(JsonNode given) { return given.isValueNode() ? List.of(given) : given; }
  static double now() { return System.nanoTime() / 1e6; }
  static double number(String pointer) { return P.at(pointer).asDouble(); }
  static long tenths(String name) { return Math.round(number("/budget/" + name) * 10); }
}
