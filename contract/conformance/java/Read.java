// What an answer says: the sections "A good answer" and "An error answer" of ../README.md.
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.*;
import java.math.*;
import java.net.*;
import java.net.http.*;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.*;
import java.time.*;
import java.util.*;
import java.util.regex.*;
import javax.net.ssl.SSLException;

final class Failure extends Exception {
  static final Map<String, String> EXECUTED = Map.of("nothing-sent", "no", "refused", "no", "success-began", "yes");
  final String code, codeSource;
  final List<String> events;
  String because, notRetried;
  boolean inferred = true;
  Long retryAfterMs;
  int status;

  Failure(String code, String codeSource, String because, String message, String... events) {
    super(message);
    this.code = code;
    this.codeSource = codeSource;
    this.because = because;
    this.events = List.of(events);
  }

  String executed() {
    return EXECUTED.getOrDefault(because, "unknown");
  }

  /** Of two that are equally bad the later counts; a refusal says more than a request that was not sent. */
  boolean worseThan(String earlier) {
    List<String> order = List.of("no", "unknown", "yes");
    int more = order.indexOf(executed()) - order.indexOf(EXECUTED.getOrDefault(earlier, "unknown"));
    return more > 0 || more == 0 && !because.equals("nothing-sent");
  }

  int retries(String figures) {
    return events.stream().mapToInt(e -> Client.P.at("/events/" + e + "/retries/" + figures).asInt()).min().orElse(0);
  }
}

/** One request, and what is known of it. */
final class Exchange {
  volatile boolean sent;
  volatile ResponseInfo head;
  final ByteArrayOutputStream got = new ByteArrayOutputStream();

  boolean success() {
    return head != null && head.statusCode() / 100 == 2;
  }

  String because() {
    if (head != null) return success() ? "success-began" : "unclear-answer";
    return sent ? "no-answer" : "nothing-sent";
  }
}

final class Read {
  static final JsonMapper JSON = JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

  static JsonNode data(String file) {
    try {
      return JSON.readTree(Files.readString(Path.of("..", file)));
    } catch (IOException fault) {
      throw new UncheckedIOException(fault);
    }
  }

  static boolean hasWhatIsNeeded(String operation, JsonNode value) {
    if (operation.equals("uploadDatasetFile")) return value.path("id").isTextual();
    if (!operation.equals("rerankDocuments")) return true;
    for (JsonNode item : value.path("data"))
      if (!item.path("index").isIntegralNumber() || !item.path("relevance_score").isNumber()
          || !Double.isFinite(item.get("relevance_score").doubleValue())) return false;
    return value.path("data").isArray();
  }

  static Failure error(Exchange exchange, Set<String> keys) {
    int status = exchange.head.statusCode();
    String text = redacted(textOf(exchange), keys);
    JsonNode json = parsed(text);
    if (json != null && json.isArray() && json.size() == 1) json = json.get(0);
    Long wait = retryAfter(exchange.head.headers(), json);
    JsonNode row = null;
    for (JsonNode one : Client.P.get("statuses"))
      for (JsonNode range : one.get("statuses")) {
        String[] ends = range.asText().split("-");
        if (status >= Integer.parseInt(ends[0]) && status <= Integer.parseInt(ends[ends.length - 1])) row = one;
      }
    String named = json == null || status / 100 == 3 ? null : codeIn(json, status);
    Set<String> events = new LinkedHashSet<>();
    if (named != null) events.add(Client.P.at("/codes/" + named + "/event").asText());
    boolean agree = named != null && Client.number("/codes/" + named + "/httpStatus") == status;
    if (!agree) events.add(row.get("event").asText());
    boolean no = events.stream().allMatch(event -> Client.P.at("/events/" + event + "/executed").asText().equals("no"));
    String[] all = events.stream().map(e -> e.equals("exhausted") && wait != null ? "exhaustedTimed" : e)
        .toArray(String[]::new);
    String message = status / 100 == 3 || status == 101 ? null : messageIn(json, text);
    Failure failure = new Failure(named != null ? named : row.get("code").asText(), named != null ? "body" : "status",
        no ? "refused" : "unclear-answer", message != null ? redacted(message, keys) : "HTTP status " + status, all);
    failure.inferred = named == null;
    for (JsonNode known : row.get("notInferred")) failure.inferred &= known.asInt() != status;
    failure.retryAfterMs = wait;
    failure.status = status;
    return failure;
  }

  static String codeIn(JsonNode json, int status) {
    JsonNode codes = Client.P.get("codes"), code = json.path("code");
    for (JsonNode field : Client.P.at("/errorBody/codeFields")) {
      JsonNode value = json.at("/" + field.asText().replace('.', '/'));
      if (value.isTextual() && codes.has(value.asText())) return value.asText();
    }
    for (Iterator<String> names = codes.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (code.isNumber() && code.asDouble() == codes.get(name).get("grpcNumber").asInt()
          && status == codes.get(name).get("httpStatus").asInt()) return name;
      if (code.isTextual() && code.asText().equals(name.toLowerCase(Locale.ROOT))) return name;
    }
    return code.asText().equals("canceled") ? "CANCELLED" : null;
  }

  static String messageIn(JsonNode json, String text) {
    if (json == null) {
      if (!text.startsWith("<")) return text.isEmpty() ? null : cut(text, 500);
      Matcher title = Pattern.compile("(?is)<title[^>]*>(.*?)</title>").matcher(text);
      String words = title.find() ? cut(title.group(1), 200) : "";
      if (words.isEmpty()) words = cut(text.replaceAll("<[^>]*>", " "), 200);
      return words.isEmpty() ? null : words;
    }
    StringJoiner list = new StringJoiner("; ");
    for (JsonNode item : json.path("detail")) if (item.path("msg").isTextual()) list.add(item.get("msg").asText());
    JsonNode all = JSON.getNodeFactory().textNode(list.toString());
    for (JsonNode one : List.of(json.at("/error/message"), json.path("error"), json.path("message"),
        json.path("Message"), json.path("detail"), all, json.path("title"), json))
      if (one.isTextual() && !one.asText().isBlank()) return one.asText().strip();
    return null;
  }

  static String cut(String text, int most) {
    String flat = text.replaceAll("\\s+", " ").strip();
    return flat.substring(0, Math.min(most, flat.length()));
  }

  /** The longest time that an error answer asks to wait; null if it names none. */
  static Long retryAfter(HttpHeaders headers, JsonNode json) {
    List<BigDecimal> times = new ArrayList<>();
    for (String text : headers.allValues("retry-after-ms")) add(times, text, "", 1);
    Instant now = headers.firstValue("date").map(Read::date).orElse(Instant.now());
    for (String text : headers.allValues("retry-after")) {
      add(times, text, "", 1000);
      Instant then = date(text);
      if (then != null) times.add(BigDecimal.valueOf(Math.max(0, Duration.between(now, then).toMillis())));
    }
    for (String list : List.of("/error/details", "/details"))
      for (JsonNode item : json == null ? List.<JsonNode>of() : json.at(list))
        if (item.path("@type").asText().endsWith("google.rpc.RetryInfo") && item.path("retryDelay").isTextual())
          add(times, item.get("retryDelay").asText(), "s", 1000);
    BigDecimal most = BigDecimal.valueOf(Long.MAX_VALUE);
    return times.stream().max(BigDecimal::compareTo)
        .map(time -> time.setScale(0, RoundingMode.CEILING).min(most).longValueExact()).orElse(null);
  }

  static void add(List<BigDecimal> times, String text, String unit, int ms) {
    Matcher number = Pattern.compile("(\\d+(\\.\\d+)?)" + unit).matcher(text.strip());
    if (number.matches()) times.add(new BigDecimal(number.group(1)).multiply(BigDecimal.valueOf(ms)));
  }

  static final Pattern DATE = Pattern.compile(
      "(?:\\w+, (\\d\\d)[ -](\\w{3})[ -](\\d{2}|\\d{4}) (\\d\\d:\\d\\d:\\d\\d) GMT)"
      + "|(?:\\w{3} (\\w{3}) ([ \\d]\\d) (\\d\\d:\\d\\d:\\d\\d) (\\d{4}))");

  /** A date in one of the three forms of RFC 9110; null for any other text. */
  static Instant date(String text) {
    Matcher m = DATE.matcher(text.strip());
    if (!m.matches()) return null;
    boolean c = m.group(1) == null;
    int month = "JanFebMarAprMayJunJulAugSepOctNovDec".indexOf(m.group(c ? 5 : 2)) / 3 + 1;
    int year = Integer.parseInt(m.group(c ? 8 : 3)), now = Year.now().getValue();
    if (year < 100) year += now / 100 * 100 - (year + now / 100 * 100 > now + 50 ? 100 : 0);
    try {
      LocalDate day = LocalDate.of(year, month, Integer.parseInt(m.group(c ? 6 : 1).strip()));
      return day.atTime(LocalTime.parse(m.group(c ? 7 : 4))).toInstant(ZoneOffset.UTC);
    } catch (DateTimeException none) {
      return null;
    }
  }

  static String redacted(String text, Set<String> keys) {
    for (String secret : keys) text = text.replace(secret, "[key]");
    return text;
  }

  static String textOf(Exchange exchange) {
    String text = exchange.got.toString(UTF_8);
    return (text.startsWith("\ufeff") ? text.substring(1) : text).strip();
  }

  static JsonNode parsed(String text) {
    try {
      JsonNode json = JSON.readTree(text);
      return json.isMissingNode() ? null : json;
    } catch (IOException none) {
      return null;
    }
  }

  static Failure ended(String why, String because) {
    String code = why.equals("aborted") ? "CANCELLED" : "DEADLINE_EXCEEDED";
    Failure failure = new Failure(code, "client", because, "The call was ended: " + why + ".", "ended");
    failure.notRetried = why;
    return failure;
  }

  static Failure lateToConnect() {
    return new Failure("DEADLINE_EXCEEDED", "transport", "nothing-sent", "No connection in time.", "neverConnected");
  }

  static Failure tunnel(int status) {
    String code = status == 407 ? "UNAUTHENTICATED" : status < 500 ? "PERMISSION_DENIED" : "UNAVAILABLE";
    String message = "The proxy refused the tunnel with " + status + ".";
    return new Failure(code, "transport", "nothing-sent", message, status < 500 ? "refused" : "neverConnected");
  }

  /** What a fault of the network is. */
  static Failure lostBy(IOException fault, Exchange exchange, String host) {
    boolean tls = false, closed = false, unknown = false;
    for (Throwable cause = fault; cause != null; cause = cause.getCause()) {
      tls |= cause instanceof SSLException;
      closed |= cause.toString().contains("terminated the handshake");
      unknown |= cause instanceof UnresolvedAddressException;
    }
    String message = "The connection failed: " + fault;
    if (exchange.success()) return new Failure("INTERNAL", "transport", "success-began", message, "bodyLost");
    Matcher refusal = Pattern.compile("Tunnel failed, got: (\\d+)").matcher(message);
    if (refusal.find()) return tunnel(Integer.parseInt(refusal.group(1)));
    String event = tls ? closed ? "neverConnected" : "tlsFailure" : exchange.sent ? "connectionLost" : "neverConnected";
    if (unknown) {
      try {
        InetAddress.getByName(host);
      } catch (UnknownHostException name) {
        if (!name.getMessage().contains("Temporary failure")) event = "nameNotFound";
      }
    }
    String because = event.equals("connectionLost") ? "no-answer" : "nothing-sent";
    return new Failure("UNAVAILABLE", "transport", because, message, event);
  }
}
