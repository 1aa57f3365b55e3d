"""Positions in words, with the nearest large town."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..core import great_circle_m
from ..rounding import amount

_NEAR_M: Final = 100_000.0
_FAR_M: Final = 300_000.0
_IN_TOWN_M: Final = 15_000.0
# Name, latitude and longitude of the centre in degrees; the larger towns of every continent.
_TOWNS: Final = """
London 51.51 -0.13; Birmingham 52.48 -1.90; Manchester 53.48 -2.24; Glasgow 55.86 -4.25; Edinburgh 55.95 -3.19
Dublin 53.35 -6.26; Belfast 54.60 -5.93; Reykjavik 64.15 -21.94; Paris 48.86 2.35; Lyon 45.76 4.84
Marseille 43.30 5.37; Toulouse 43.60 1.44; Bordeaux 44.84 -0.58; Lille 50.63 3.06; Nice 43.70 7.27
Strasbourg 48.57 7.75; Brussels 50.85 4.35; Amsterdam 52.37 4.90; Rotterdam 51.92 4.48; Luxembourg 49.61 6.13
Berlin 52.52 13.40; Hamburg 53.55 9.99; Munich 48.14 11.58; Cologne 50.94 6.96; Frankfurt 50.11 8.68
Stuttgart 48.78 9.18; Leipzig 51.34 12.37; Zurich 47.37 8.54; Geneva 46.20 6.14; Lausanne 46.52 6.63
Basel 47.56 7.59; Bern 46.95 7.45; Vienna 48.21 16.37; Prague 50.08 14.44; Bratislava 48.15 17.11
Budapest 47.50 19.04; Warsaw 52.23 21.01; Krakow 50.06 19.94; Gdansk 54.35 18.65; Vilnius 54.69 25.28
Riga 56.95 24.11; Tallinn 59.44 24.75; Helsinki 60.17 24.94; Stockholm 59.33 18.07; Gothenburg 57.71 11.97
Oslo 59.91 10.75; Bergen 60.39 5.32; Copenhagen 55.68 12.57; Madrid 40.42 -3.70; Barcelona 41.39 2.17
Valencia 39.47 -0.38; Seville 37.39 -5.98; Bilbao 43.26 -2.93; Lisbon 38.72 -9.14; Porto 41.15 -8.61
Rome 41.90 12.50; Milan 45.46 9.19; Turin 45.07 7.69; Naples 40.85 14.27; Palermo 38.12 13.36; Florence 43.77 11.26
Venice 45.44 12.33; Zagreb 45.81 15.98; Ljubljana 46.06 14.51; Belgrade 44.79 20.45; Sarajevo 43.86 18.41
Sofia 42.70 23.32; Bucharest 44.43 26.10; Athens 37.98 23.73; Thessaloniki 40.64 22.94; Istanbul 41.01 28.98
Ankara 39.93 32.86; Izmir 38.42 27.14; Kyiv 50.45 30.52; Lviv 49.84 24.03; Odesa 46.48 30.73; Minsk 53.90 27.57
Moscow 55.76 37.62; Saint Petersburg 59.93 30.34; Kazan 55.79 49.12; Yekaterinburg 56.84 60.61
Novosibirsk 55.03 82.92; Vladivostok 43.12 131.89; Tbilisi 41.72 44.79; Baku 40.41 49.87; Yerevan 40.18 44.51
Tashkent 41.30 69.24; Almaty 43.24 76.89; Tehran 35.69 51.39; Baghdad 33.31 44.37; Damascus 33.51 36.29
Beirut 33.89 35.50; Jerusalem 31.77 35.21; Tel Aviv 32.09 34.78; Amman 31.96 35.95; Riyadh 24.71 46.68
Jeddah 21.49 39.19; Dubai 25.20 55.27; Doha 25.29 51.53; Kuwait City 29.38 47.99; Muscat 23.59 58.41
Kabul 34.53 69.17; Karachi 24.86 67.01; Lahore 31.55 74.34; Islamabad 33.68 73.05; Delhi 28.61 77.21
Mumbai 19.08 72.88; Bengaluru 12.97 77.59; Chennai 13.08 80.27; Kolkata 22.57 88.36; Hyderabad 17.39 78.49
Ahmedabad 23.02 72.57; Pune 18.52 73.86; Kathmandu 27.72 85.32; Dhaka 23.81 90.41; Colombo 6.93 79.86
Yangon 16.84 96.17; Bangkok 13.76 100.50; Phnom Penh 11.56 104.92; Hanoi 21.03 105.85
Ho Chi Minh City 10.82 106.63; Kuala Lumpur 3.14 101.69; Singapore 1.35 103.82; Jakarta -6.21 106.85
Surabaya -7.26 112.75; Manila 14.60 120.98; Cebu 10.32 123.89; Beijing 39.90 116.41; Shanghai 31.23 121.47
Guangzhou 23.13 113.26; Shenzhen 22.54 114.06; Hong Kong 22.32 114.17; Chengdu 30.57 104.07; Chongqing 29.56 106.55
Wuhan 30.59 114.31; Xi'an 34.34 108.94; Tianjin 39.34 117.36; Harbin 45.80 126.53; Urumqi 43.83 87.62
Taipei 25.03 121.57; Seoul 37.57 126.98; Busan 35.18 129.08; Pyongyang 39.04 125.76; Tokyo 35.68 139.69
Osaka 34.69 135.50; Nagoya 35.18 136.91; Sapporo 43.06 141.35; Fukuoka 33.59 130.40; Ulaanbaatar 47.89 106.91
Cairo 30.04 31.24; Alexandria 31.20 29.92; Tripoli 32.89 13.19; Tunis 36.81 10.18; Algiers 36.75 3.06
Casablanca 33.57 -7.59; Rabat 34.02 -6.84; Dakar 14.72 -17.47; Bamako 12.64 -8.00; Abidjan 5.36 -4.01
Accra 5.60 -0.19; Lagos 6.52 3.38; Abuja 9.06 7.49; Kano 12.00 8.52; Douala 4.05 9.70; Kinshasa -4.44 15.27
Luanda -8.84 13.23; Khartoum 15.50 32.56; Addis Ababa 9.03 38.74; Nairobi -1.29 36.82; Kampala 0.35 32.58
Kigali -1.95 30.06; Dar es Salaam -6.79 39.21; Lusaka -15.39 28.32; Harare -17.83 31.05; Maputo -25.97 32.57
Antananarivo -18.88 47.51; Johannesburg -26.20 28.05; Cape Town -33.92 18.42; Durban -29.86 31.02
New York 40.71 -74.01; Boston 42.36 -71.06; Philadelphia 39.95 -75.17; Washington 38.91 -77.04
Atlanta 33.75 -84.39; Miami 25.76 -80.19; Orlando 28.54 -81.38; Charlotte 35.23 -80.84; Nashville 36.16 -86.78
Chicago 41.88 -87.63; Detroit 42.33 -83.05; Cleveland 41.50 -81.69; Pittsburgh 40.44 -80.00
Minneapolis 44.98 -93.27; Saint Louis 38.63 -90.20; Kansas City 39.10 -94.58; New Orleans 29.95 -90.07
Houston 29.76 -95.37; Dallas 32.78 -96.80; Austin 30.27 -97.74; San Antonio 29.42 -98.49; Denver 39.74 -104.99
Salt Lake City 40.76 -111.89; Phoenix 33.45 -112.07; Las Vegas 36.17 -115.14; Los Angeles 34.05 -118.24
San Diego 32.72 -117.16; San Francisco 37.77 -122.42; San Jose 37.34 -121.89; Portland 45.52 -122.68
Seattle 47.61 -122.33; Anchorage 61.22 -149.90; Honolulu 21.31 -157.86; Toronto 43.65 -79.38; Montreal 45.50 -73.57
Ottawa 45.42 -75.70; Quebec 46.81 -71.21; Winnipeg 49.90 -97.14; Calgary 51.05 -114.07; Edmonton 53.55 -113.49
Vancouver 49.28 -123.12; Halifax 44.65 -63.58; Mexico City 19.43 -99.13; Guadalajara 20.67 -103.35
Monterrey 25.69 -100.32; Havana 23.11 -82.37; Kingston 18.00 -76.79; San Juan 18.47 -66.11
Santo Domingo 18.49 -69.93; Guatemala City 14.63 -90.51; Panama City 8.98 -79.52; Bogota 4.71 -74.07
Medellin 6.24 -75.58; Caracas 10.48 -66.90; Quito -0.18 -78.47; Guayaquil -2.17 -79.92; Lima -12.05 -77.04
La Paz -16.50 -68.15; Santiago -33.45 -70.67; Buenos Aires -34.60 -58.38; Cordoba -31.42 -64.18
Montevideo -34.90 -56.16; Asuncion -25.26 -57.58; Sao Paulo -23.55 -46.63; Rio de Janeiro -22.91 -43.17
Brasilia -15.79 -47.88; Salvador -12.97 -38.50; Recife -8.05 -34.88; Fortaleza -3.73 -38.53; Manaus -3.12 -60.02
Porto Alegre -30.03 -51.23; Sydney -33.87 151.21; Melbourne -37.81 144.96; Brisbane -27.47 153.03
Perth -31.95 115.86; Adelaide -34.93 138.60; Auckland -36.85 174.76; Wellington -41.29 174.78; Suva -18.14 178.44
Port Moresby -9.44 147.18; Noumea -22.27 166.46
"""


def whereabouts(lat: ArrayLike, lon: ArrayLike) -> str:
    """Return in words the bounding box of points in degrees, arrays (n,), and a large town nearby.

    Example:
        >>> whereabouts([48.85, 48.87], [2.29, 2.36])
        '48.85 N to 48.87 N, 2.29 E to 2.36 E, in or near Paris'
    """
    y, x = np.asarray(lat, dtype=float), np.asarray(lon, dtype=float)
    box = f"{_angle(y.min(), 'NS')} to {_angle(y.max(), 'NS')}, {_angle(x.min(), 'EW')} to {_angle(x.max(), 'EW')}"
    middle = float(np.median(y)), float(np.median(x))
    town, away = nearest_town(*middle)
    if away <= _IN_TOWN_M:
        return f"{box}, in or near {town.name}"
    if away <= _FAR_M:
        return f"{box}, {amount(away, 'm')} from {town.name}"
    text = f"{box}, with no large town that we know within {amount(_FAR_M, 'm')}"
    if abs(middle[1]) <= 90:
        other, distance = nearest_town(middle[1], middle[0])
        if distance <= _NEAR_M:
            text += (
                f"; with latitude and longitude exchanged they would be {amount(distance, 'm')} from "
                f"{other.name}: see whether the two are swapped"
            )
    return text


def _angle(degrees: float, letters: str) -> str:
    return f"{abs(degrees):.2f} {letters[0] if degrees >= 0 else letters[1]}"


@dataclass(frozen=True, slots=True)
class Town:
    """A large town, with its English name and its centre in degrees."""

    name: str
    lat: float
    lon: float


@cache
def towns() -> tuple[Town, ...]:
    """Return the towns that are known here."""
    entries = [entry.strip().rsplit(" ", 2) for line in _TOWNS.strip().splitlines() for entry in line.split(";")]
    return tuple(Town(name, float(lat), float(lon)) for name, lat, lon in entries)


def nearest_town(lat: float, lon: float) -> tuple[Town, float]:
    """Return the town nearest to a point, and the metres to its centre."""
    known = towns()
    away = great_circle_m(np.array([[lat, lon]]), np.array([(town.lat, town.lon) for town in known]))[0]
    first = int(np.argmin(away))
    return known[first], float(away[first])
