<?php

// One attempt of a call, over libcurl.
declare(strict_types=1);

/** libcurl's CURLE_SEND_FAIL_REWIND: a reused connection was lost, and the request was not sent again. */
const NOT_REWOUND = 65;
/** How often a caller is asked whether it aborts, in ms. */
const ABORT_MS = 20;

function now(): float
{
    return hrtime(true) / 1e6;
}

/** Waits. @throws ServiceError as soon as the caller aborts */
function pause(float $ms, ?Closure $isAborted): void
{
    $end = now() + $ms;
    do {
        if ($isAborted !== null && $isAborted()) {
            throw ended('aborted', 'nothing-sent');
        }
        $left = max(0, $end - now());
        usleep((int) ceil(1000 * ($isAborted === null ? $left : min($left, ABORT_MS))));
    } while (now() < $end);
}

/** The failure of a call that its caller or its deadline ended. */
function ended(string $notRetried, string $because): ServiceError
{
    $code = $notRetried === 'aborted' ? 'CANCELLED' : 'DEADLINE_EXCEEDED';
    return new ServiceError($code, "The call ended early: $notRetried.", $because, ['ended'], notRetried: $notRetried);
}

/** A request, and how far it and its response got. */
final class Attempt
{
    /** What `executed` is based on. */
    public string $because = 'nothing-sent';
    public int $status = 0;
    /** @var array<string, string[]> by name in lower case */
    public array $headers = [];
    public string $body = '';
    private CurlHandle $curl;

    /** @param string|null $body of the request; null for none */
    public function __construct(?string $body, array $options, private int $maxBytes)
    {
        $this->curl = curl_init();
        curl_setopt_array($this->curl, $options + [
            CURLOPT_HTTP_VERSION => CURL_HTTP_VERSION_1_1,
            CURLOPT_PATH_AS_IS => true,
            CURLOPT_ACCEPT_ENCODING => 'gzip',
            CURLOPT_SUPPRESS_CONNECT_HEADERS => true,
            CURLOPT_HEADERFUNCTION => fn ($curl, string $line) => $this->readHeader($line),
            CURLOPT_WRITEFUNCTION => fn ($curl, string $bytes) => $this->readBody($bytes),
        ]);
        if ($body !== null) {
            // libcurl itself repeats what a reused connection lost, unless it cannot go back to the start of the body.
            $at = 0;
            curl_setopt_array($this->curl, [
                CURLOPT_UPLOAD => true,
                CURLOPT_INFILESIZE => strlen($body),
                CURLOPT_READFUNCTION => function ($curl, $file, int $length) use ($body, &$at): string {
                    $this->because = $this->status > 100 ? $this->because : 'no-answer';
                    $at += $length;
                    return substr($body, $at - $length, $length);
                },
            ]);
        }
    }

    /** Sends the request and reads the response. @throws ServiceError if there is none, or a 2xx that is cut */
    public function run(CurlMultiHandle $connections, float $end, float $deadline, ?Closure $isAborted): void
    {
        curl_multi_add_handle($connections, $this->curl);
        $ending = null;
        while (curl_multi_exec($connections, $running) === CURLM_OK && $running && $ending === null) {
            $left = min($end, $deadline) - now();
            $ending = $isAborted !== null && $isAborted() ? 'aborted' : ($left <= 0 ? 'late' : null);
            curl_multi_select($connections, max(0, min($left, $isAborted === null ? 1000 : ABORT_MS)) / 1000);
        }
        $number = curl_multi_info_read($connections)['result'] ?? CURLE_OK;
        if ($this->because === 'nothing-sent' && curl_getinfo($this->curl, CURLINFO_PRETRANSFER_TIME_T) > 0) {
            $this->because = 'no-answer'; // A request without a body has no other sign that it was sent.
        }
        curl_multi_remove_handle($connections, $this->curl);
        if ($ending === 'late' && now() < $deadline) {
            $names = ['nothing-sent' => 'connect-stalls', 'success-began' => 'body-stalls'];
            throw $this->fault($names[$this->because] ?? 'silence', 'client');
        }
        if ($ending !== null) {
            throw ended($ending === 'late' ? 'deadline-too-close' : $ending, $this->because);
        }
        // An error response that is cut still counts.
        if ($number !== CURLE_OK && $this->because !== 'unclear-answer') {
            throw $this->fault($this->nameOf($number), $this->isTooLarge() ? 'client' : 'transport', $number);
        }
    }

    private function readHeader(string $line): int
    {
        if (preg_match('~^HTTP/\S+ (\d{3})~', $line, $found)) {
            [$this->status, $this->headers] = [(int) $found[1], []];
            if ($this->status > 100) {
                $this->because = intdiv($this->status, 100) === 2 ? 'success-began' : 'unclear-answer';
            }
        } elseif (str_contains($line, ':')) {
            [$name, $value] = explode(':', $line, 2);
            $this->headers[strtolower($name)][] = trim($value);
        }
        return strlen($line);
    }

    /** Returns another length than it was given to end the response. */
    private function readBody(string $bytes): int
    {
        $most = $this->because === 'success-began' ? $this->maxBytes + 1 : PARAMETERS['answers']['maxErrorBytes'];
        $this->body .= substr($bytes, 0, $most - strlen($this->body));
        return strlen($this->body) < $most ? strlen($bytes) : 0;
    }

    private function isTooLarge(): bool
    {
        return $this->because === 'success-began' && strlen($this->body) > $this->maxBytes;
    }

    /** The failure that is a row of "network". */
    private function fault(string $name, string $source, int $number = CURLE_OK): ServiceError
    {
        ['code' => $code, 'event' => $event, 'executed' => $executed] = PARAMETERS['network'][$name];
        $isReused = $number === NOT_REWOUND || curl_getinfo($this->curl, CURLINFO_NUM_CONNECTS) === 0;
        $wasIdle = $isReused && $event === 'connectionLost';
        $because = $executed === 'no' ? 'nothing-sent' : $this->because;
        return new ServiceError($code, "It failed: $name.", $because, [$event], $source, wasIdle: $wasIdle);
    }

    /** The row of "network" that is of an error of libcurl. */
    private function nameOf(int $number): string
    {
        [$text, $proxyStatus] = [curl_error($this->curl), curl_getinfo($this->curl, CURLINFO_HTTP_CONNECTCODE)];
        $isClosed = preg_match('/SSL_ERROR_SYSCALL|Connection reset|unexpected eof/', $text) === 1;
        $tls = [CURLE_SSL_CONNECT_ERROR, CURLE_SSL_PEER_CERTIFICATE, CURLE_SSL_CERTPROBLEM];
        return match (true) {
            $this->isTooLarge() => 'body-endless',
            $this->because === 'success-began' => 'body-truncated',
            $proxyStatus === 407 => 'tunnel-credentials',
            $proxyStatus >= 500 => 'tunnel-failed',
            $proxyStatus >= 300 => 'tunnel-refused',
            $isClosed && $this->because === 'nothing-sent' => 'tls-closed',
            in_array($number, $tls, true), str_contains($text, ' alert ') => 'tls-untrusted',
            $this->because === 'no-answer' => 'reset-before-headers',
            $number === CURLE_OPERATION_TIMEDOUT => 'connect-stalls',
            $number === CURLE_COULDNT_RESOLVE_HOST => $this->isNameUnknown() ? 'name-not-found' : 'name-server-busy',
            default => 'refused',
        };
    }

    /** libcurl does not say why a name has no address. */
    private function isNameUnknown(): bool
    {
        $host = parse_url(curl_getinfo($this->curl, CURLINFO_EFFECTIVE_URL), PHP_URL_HOST);
        return @fsockopen($host, 80, $number, $why, 0.001) === false && !str_contains($why, 'Temporary');
    }
}
