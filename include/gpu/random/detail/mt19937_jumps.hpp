#pragma once
/// \file
/// What the generators of MT19937 begin with: the state of the first one, and the polynomials by
/// which it is moved to the places of the others.

#include <gpu/core/sequence.hpp>
#include <gpu/system/made_once.hpp>

#include <cstdint>
#include <new>

namespace gpu { inline namespace v1 { namespace detail {

inline constexpr unsigned mt19937_words = 624;        ///< of a state
inline constexpr unsigned mt19937_generators = 8192;  ///< that take turns, 2^2048 numbers apart
inline constexpr unsigned mt19937_group = 256;        ///< generators that share a first jump
inline constexpr unsigned mt19937_group_bits = 5;     ///< of the number of a group
inline constexpr unsigned mt19937_range_bits = 42;    ///< of the number of a range
inline constexpr unsigned mt19937_step_bits = 10;     ///< of it that are gone step by step
inline constexpr unsigned mt19937_jumps =
    mt19937_group + mt19937_group_bits + mt19937_range_bits - mt19937_step_bits;

/// The exponents of the characteristic polynomial below x^19937.
inline constexpr unsigned short mt19937_exponents[] = {
    19314, 19087, 18860, 18691, 18633, 18406, 18237, 18179, 18068, 17952, 17841, 17783, 17725,
    17498, 17445, 17329, 17271, 17160, 17044, 16933, 16875, 16822, 16817, 16595, 16590, 16537,
    16421, 16368, 16363, 16252, 16141, 16136, 16025, 15967, 15909, 15682, 15629, 15576, 15513,
    15455, 15349, 15344, 15228, 15117, 15059, 15006, 15001, 14953, 14779, 14774, 14721, 14605,
    14552, 14547, 14436, 14325, 14320, 14209, 14151, 14093, 13866, 13813, 13760, 13697, 13639,
    13533, 13528, 13412, 13301, 13243, 13190, 13185, 13137, 12963, 12958, 12905, 12789, 12736,
    12731, 12673, 12620, 12509, 12504, 12393, 12335, 12277, 11997, 11944, 11881, 11838, 11717,
    11712, 11611, 11485, 11384, 11374, 11321, 11215, 11157, 11147, 11089, 10920, 10761, 10693,
    10128, 9969,  9901,  9505,  8206,  7979,  7752,  7583,  7525,  7477,  7129,  6569,  6337,
    5661,  4753,  4362,  4135,  3908,  3681,  3454,  3227,  3000,  2773,  2493,  1870,  1643,
    1585,  1416,  1189,  0};

/// The coefficients of x^(2^2048) modulo that polynomial, lowest first, six in a character from '0'
/// on: the distance of neighbors among the generators of cuRAND. Its output of the first three was
/// solved for the polynomial, which is this power.
inline constexpr char mt19937_neighbor[] =
    R"(Hcej82H0lVSb7fCVROo>]8:9U4Q[lmTD\WM_5hV9=DZb@nG:d8OY4@=3@NG<feCG<>m?l8LBj9Ne>lTU82KdPfM[0QToB@AP06)"
    R"(Z5EIdV`VSg5>EWO\=?g:2ZiP^GASQiPkcAKR5k3RbPg55i=dDP@0Z\nkL;FfY1_ak58iHQF93]gXNJ_RT2e7711L3NJ>JMd@SB)"
    R"(JTQ9g0F[b=<iI9F:IOSTP0nOZ_>P7d[S81IWe84Q[@1ijhcbnmF1Z`J^[fZXG_m7mCFWh:Ea_IQO^86U8[X4ZKX@<3G<3PoPSd)"
    R"(I:il9T3E@e^]K24Wjb5U5jTUYd97EmLZ<UVGZEKMCnXh7aQQEMc[ggcO8=`C26M2ICVAKhf:cV5F1nJH1fQl:;ASQOmFPA5:N9)"
    R"(e7SN3`IJ9]\6eg[A4G;]1\99N6B;OIc<5]K<<6IAZnAnGc>lJ`[on8`UIDgJC\W4gK6LVG6^F3AOCKa8]dfFnAUVE3D:?2ERSD)"
    R"(:E6lCeJPP<JA1bhc[>i5D3a7Y8`W^BY[oN>_GETa[6`:3:=odcKd:cn\\Wi2^3B?nX\H>27<:9[g6fX]oAPSnN>UG\6[E233E1)"
    R"(k36P1I;Um?EHgULhHESg\DalQZY>KEOSeE^:aBk\Q@XIh^]_P=WKg9>A8a?aU3>BLPhfG1:4KWaOB:UacTiDnOa`eXR19OeYj7)"
    R"(`b6NIPO[FPiGNQD`>IXNR`ahjjTahZ4<j1HnI3emFimQ^:M:=0;QjKYHWU^WPKHkAl\kKLlk4W0YYD]EliOQ?iEeKFP6Zf\GnR)"
    R"(1ZmB^?JE[VckW:KYkCZjgcPTMn`0W]eMa]G;[?hf\l7hce^=5gLX<igE6Z=7RCO4TaU\Uf?9OMNW:UHloA79`^8`UDOm\f0PY1)"
    R"(lKlmgk_X=[R\D`>8[SU4aAj`C1`P1l4^b7GJCbCXoQ:>2o>EG54FicFZaNThohD0Ba]BKmEg9iV4nZ32[JaPkI`Ujk6GDdN<WX)"
    R"(M0YJ>j6ANd7h`SRY5]dMK?E<gaT[iD^UL[ZQM;l;dTJm`m]lO^3fG8D;^DJjjeD5:]40>IV2QU5<IL=WC<64>CjC]CKjQI4UNj)"
    R"(XK84FH?5TI;XN9HQnf?_[Rj=Xa=W;`V@9Z3e<R@05m`N:a[<8`aP2Y=6<nl0\JCM8_FRZ:T[n?aLG017l3cM9>7\cUHE?@VoRk)"
    R"(m6CcP88BFTRlF2kdi3PBcSE`U[870Hn2e1XP_9CGfUKkAcle?JeC<6;TeI@C_PJSI7e2U\UGGJhMcF7l3T@KjF[OkjEa4Ef5m<)"
    R"(@WN>SEed8jWgDdNZEdRiZmCMA?Q[1Hghod@S;Q65GAn7[B4gADkR_fdOm_jMOVYU?@S`DW:LA6J9XPaSGDOfR29:YdNI^i9?:n)"
    R"(6j\IfGH?NGP[EnOUWa2M\:On;G0TSW7nKoS\U@kD8ljS1OA1mSo[2X9V>54OFe6Lj?DfLhagPoXPB;kdAiRHifImhUe2a?U@nN)"
    R"(1;on_6^S`RlQQAN7RdTT_Fd71jg2=NN1e6_BJ2`I5B>@on;N0ZjV<hV1=@RSEEPZAS5A<T_8n:S@B9KmGmG90[^?NQSJ2cVa_I)"
    R"(mbT?a;`Lb=PBTbg1QCc0NU?42cAaAY<\nnh:BQ8Cn1OT?CANbXe`^190BUmU>i2Y4TH1:<A3Wh5U?c]N[9@Zd4CCF;;>hRbBnW)"
    R"(RCYZ75gEVT@B8n4L_e7MI2l9S0JXWNi_9`[mBgZC7UP6B[2^iF`U`hm>I>R59Vgdl^RTKVYDiPoE_ZHHa]:jS7cQe^NRScP2`k)"
    R"(XR3R=R[2e>]K<^UbgW<RC<UDbPkTjWa3\J[mN0egA^LO<dKY\adkI5c3J1E>\mFTm@MgKohTHcI6ZJU:I?0I?nf>_J`cElXP<T)"
    R"(H<K12iko^=RT<G^o?P7i`6Ta8l6?HUf45Aj6PNnPb@MAZ1R[c\Y]GdG8W^PNmZB7NS3eTA]CLh=^`lBGW59C3e=MK7YcNSn3Rn)"
    R"(YYUQMaCa0Ug95b=H[eV=Bg[jPER4Y2[Xl>MJfYMUS@PScLgXmI3C<h68U2J[9\];bd:_CK[0^<@C2l7IPMY\b?j3?M>o2coe6T)"
    R"(PMKlnihL`[Z?dnHHe7Y]DYCkU0KiFXhRES1ohAEF;9k3nkZd?X?SKi:]lNJ>ZW0BVadQMCKI@M881]jIT@[mDfBdoJl426Uk\f)"
    R"(SK=3Y8oV_HC0i:BR9EUUbGO1XYT:oiRFQBU:f5U?m82LDegg_eX^PU8T]J5A?9;W4_h_g<9R3liEBBaDESPF5K<I<[KcKQ[dHd)"
    R"(Z@Al688PZ]359ZPbm2Z6[^?\?JJcDX;RE@DY0lK4@@dG147dN^1W]fn3DUMKE>6@82G]56GUMFc[bhB0>T7l[4ZHeUm`W60DoL)"
    R"(f<7nKB_lcd9=fIRO8ACH^l0hWm_WgVNbChe8]i[V7o?g]?lP_[RFkXK5iRD3<dXZ0[FF4@F<6IZBG12=n:\dCn`J3RQBPJfb5H)"
    R"(gI\M\kSV[eSLi56T@6<I8[[<=e?5CQN7dKHF\U8XY>PGB:3eV<o14aMUc44_[2RP?^;XPb6M6LO3nhX:RnKnoo_dA<AlgfQQIo)"
    R"(^KAdaT@_mSQk=8XUlV^OJbBn4oL7^kK:8CbHZViZ1C@`NDV682VVD^nXg14hd:=bH?J4nD<ATIK^UEV[:VfKZC0ImRYb6WF2>K)"
    R"(E\fcY`0o0llZFO3]6ITfbG<l?P767XQ:kTk?h1Z;:11bA1SN:l3j;Ple>V;MM4fScFj^j`UKA@FT<3F_VK[A`@A1mjSl\d?cYm)"
    R"(KSadQLcXhNR6kGA=e=63d\Tajac=TPoH0;VaJNbUhlmGF=X^:c\7DkciX=1<N^B`d3YiOhNNCJ5TZajS@E3ToI\kIO<fH?2I?C)"
    R"(<UX\?8ZTWH1R2W::chXI>DUfE]nb=:65i]<iBKo3CXC1o6XPe242TPJ7`:BjMUjSmc4MSQT2c51En>:>6gSTDA2[;Cn;W?=@FQ)"
    R"(fZ_a=oNd\9A=Q0@4Q@\U_[@\]=o3E7eZ2D:LI@3WH4GMKXo?RWUHF?W3iXn33DI6E6V>:O1Ol_U376UoPL@UN9K2]WEn@3mD@K)"
    R"(]bo[@eE:R8Pf`9A?eeRcWG9Fm?:TV70oQm:_UQj;831`7^\0AAGB[h>:KN@Wmf1<c90@@;G][dXUNAIIA1i^YG7B02fGZ`65Wc)"
    R"(V?0<2iAmfgaIP6JfL[Nh=LAHBaXk4>@\]8WL=iC8PT`PBIEfMWB4Ri`mfHP[ManL]64BE5?KM^^^Aj^dV[NYAm`H5Z9TgdUP?H)"
    R"(@g[;GgC@4WhLJ3IQa6o9<O[RM?`b]6^17I6UI2AMe`jFYZI2084?C171gYi095WQGgI1^5QKN6i>ImgCMJ9^7GkiH)";

/// The coefficients of a polynomial, lowest first.
struct mt19937_polynomial {
  std::uint64_t words[mt19937_words / 2] = {};
};

/// Returns the remainder of a product by the characteristic polynomial. Destroys the product.
inline mt19937_polynomial remainder_of(std::uint64_t (&product)[mt19937_words]) noexcept {
  constexpr unsigned degree = 19937, last = degree / 64, rest = degree % 64;
  const auto add = [&](std::uint64_t bits, unsigned place) {
    product[place / 64] ^= bits << place % 64;
    if (place % 64 != 0) product[place / 64 + 1] ^= bits >> (64 - place % 64);
  };
  for (unsigned k = mt19937_words - 1; k > last; --k) {
    const std::uint64_t bits = product[k];
    for (const unsigned exponent : mt19937_exponents) add(bits, 64 * k - degree + exponent);
  }
  const std::uint64_t bits = product[last] >> rest;
  product[last] &= (std::uint64_t{1} << rest) - 1;
  for (const unsigned exponent : mt19937_exponents) add(bits, exponent);
  mt19937_polynomial remainder;
  __builtin_memcpy(remainder.words, product, sizeof remainder.words);
  return remainder;
}

/// Squares a polynomial modulo the characteristic polynomial.
inline mt19937_polynomial square_modulo(const mt19937_polynomial& polynomial) noexcept {
  std::uint64_t square[mt19937_words] = {};
  for (unsigned k = 0; k < mt19937_words; ++k) {  // zeros between the bits
    std::uint64_t bits = polynomial.words[k / 2] >> k % 2 * 32 & 0xffff'ffffu;
    bits = (bits | bits << 16) & 0x0000'ffff'0000'ffffu;
    bits = (bits | bits << 8) & 0x00ff'00ff'00ff'00ffu;
    bits = (bits | bits << 4) & 0x0f0f'0f0f'0f0f'0f0fu;
    bits = (bits | bits << 2) & 0x3333'3333'3333'3333u;
    square[k] = (bits | bits << 1) & 0x5555'5555'5555'5555u;
  }
  return remainder_of(square);
}

/// Multiplies polynomials by one of them, modulo the characteristic polynomial.
class mt19937_multiplier {
 public:
  /// Allocates the products by all polynomials of eight coefficients.
  explicit mt19937_multiplier(const mt19937_polynomial& factor) : products_(256) {
    for (unsigned low = 0; low < 8; ++low) {
      for (unsigned bits = 0; bits < 1u << low; ++bits) {
        const mt19937_polynomial& from = products_[bits];
        mt19937_polynomial& to = products_[bits | 1u << low];
        for (unsigned k = 0; k < mt19937_words / 2; ++k) {
          const std::uint64_t carried = k == 0 || low == 0 ? 0 : factor.words[k - 1] >> (64 - low);
          to.words[k] = from.words[k] ^ factor.words[k] << low ^ carried;
        }
      }
    }
  }
  mt19937_polynomial operator()(const mt19937_polynomial& other) const noexcept {
    std::uint64_t product[mt19937_words] = {};
    for (unsigned shift = 64; shift != 0;) {
      shift -= 8;
      for (unsigned k = mt19937_words - 1; k > 0; --k)
        product[k] = product[k] << 8 | product[k - 1] >> 56;
      product[0] <<= 8;
      for (unsigned place = 0; place < mt19937_words / 2; ++place) {
        const std::uint64_t* const from = products_[other.words[place] >> shift & 0xff].words;
        std::uint64_t* const to = product + place;
        for (unsigned k = 0; k < mt19937_words / 2; ++k) to[k] ^= from[k];
      }
    }
    return remainder_of(product);
  }

 private:
  sequence<mt19937_polynomial> products_;
};

/// The polynomials that move by 0 to 255 generators, by 256, 512, ... generators, and by 2^10,
/// 2^11, ... states.
struct mt19937_polynomials {
  mt19937_polynomial each[mt19937_jumps];
};

/// Returns what moves a state from one generator to the next.
inline mt19937_multiplier read_mt19937_neighbor() {
  mt19937_polynomial neighbor;
  for (unsigned place = 0; place < sizeof mt19937_neighbor - 1; ++place) {
    const auto six = static_cast<std::uint64_t>(mt19937_neighbor[place] - '0');
    const unsigned bit = 6 * place;
    neighbor.words[bit / 64] |= six << bit % 64;
    if (bit % 64 > 58 && bit / 64 + 1 < mt19937_words / 2)
      neighbor.words[bit / 64 + 1] |= six >> (64 - bit % 64);
  }
  return mt19937_multiplier(neighbor);
}

inline mt19937_polynomials* make_mt19937_polynomials() {
  const mt19937_multiplier multiply = read_mt19937_neighbor();
  auto* const made = new (std::nothrow) mt19937_polynomials;
  if (made == nullptr) return nullptr;
  mt19937_polynomial* next = made->each;
  next++->words[0] = 1;
  for (unsigned k = 1; k < mt19937_group; ++k) {
    const mt19937_polynomial square = square_modulo(made->each[k / 2]);
    *next++ = k % 2 == 0 ? square : multiply(square);
  }
  mt19937_polynomial power = made->each[mt19937_group / 2];
  for (unsigned k = 0; k < mt19937_group_bits; ++k) *next++ = power = square_modulo(power);
  power = {};
  power.words[mt19937_words / 64] = std::uint64_t{1} << mt19937_words % 64;
  for (unsigned k = 1; k < mt19937_range_bits; ++k) {
    power = square_modulo(power);
    if (k >= mt19937_step_bits) *next++ = power;
  }
  return made;
}

/// Returns the polynomials, which depend on no seed; null if the host is out of memory.
inline const mt19937_polynomials* find_mt19937_polynomials() {
  static mt19937_polynomials* made = nullptr;
  return made_once(made, make_mt19937_polynomials);
}

/// Writes the state of the first generator, as Matsumoto and Nishimura's `init_genrand` fills it.
inline void write_mt19937_state(std::uint32_t* out, std::uint32_t seed) noexcept {
  for (unsigned k = 0; k < mt19937_words; ++k) {
    out[k] = seed;
    seed = 1812433253u * (seed ^ seed >> 30) + k + 1;
  }
}

}}}  // namespace gpu::v1::detail
